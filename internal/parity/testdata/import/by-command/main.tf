resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  count = 2
}
module "m" {
  source = "./m"
}
output "imported" {
  value = terraform_data.a.id
}
output "constant" {
  value = 1
}
output "not_there" {
  value = terraform_data.b[0].id
}
output "secret" {
  value     = sensitive(module.m.id)
  sensitive = true
}
