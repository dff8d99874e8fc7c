resource "terraform_data" "a" {
  input = 1
}
module "m" {
  source = "./m"
  count  = 2
}
