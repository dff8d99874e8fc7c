resource "terraform_data" "n" {
  count = 1
}
resource "terraform_data" "e" {
  for_each = toset(["b"])
}
module "m" {
  source = "./m"
  count  = 1
}