resource "terraform_data" "a" {
  count = 12
}
resource "terraform_data" "B" {}
module "z" {
  source = "./z"
  count  = 11
}
