resource "terraform_data" "n" {
}
resource "terraform_data" "e" {
}
module "m" {
  source = "./m"
  count  = 1
}