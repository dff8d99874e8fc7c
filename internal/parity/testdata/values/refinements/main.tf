resource "terraform_data" "u" {}
locals {
  unknown = terraform_data.u.id
}
output "is_null" {
  value = terraform_data.u.id == null
}
output "not_null" {
  value = terraform_data.u.id != null
}
output "prefix" {
  value = startswith("pre-${terraform_data.u.id}", "pre-")
}
output "other" {
  value = startswith("pre-${terraform_data.u.id}", "qq")
}
output "splat" {
  value = length(terraform_data.u.id[*])
}
output "length" {
  value = length("pre-${terraform_data.u.id}") > 3
}
output "coalesce" {
  value = coalesce(terraform_data.u.id, "x") != null
}
output "tern" {
  value = terraform_data.u.id == null ? "never" : "always"
}
