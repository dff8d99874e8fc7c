locals {
  via = terraform_data.a.id
}
resource "terraform_data" "a" {}
module "m" {
  source = "./m"
  v      = local.via
}
resource "terraform_data" "z" {
  input = module.m.o
}
