resource "terraform_data" "q" {}
module "y" {
  source = "../y"
}