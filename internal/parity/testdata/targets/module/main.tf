resource "terraform_data" "a" {}
resource "terraform_data" "b" {}
module "m" {
  source = "./m"
  v      = terraform_data.a.id
}
output "m" {
  value = module.m.o
}
