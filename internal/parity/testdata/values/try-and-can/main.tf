resource "terraform_data" "u" {}
locals {
  unknown = terraform_data.u.id
}
output "missing" {
  value = try({ a = 1 }.b, "d")
}
output "index" {
  value = try([1][5], "d")
}
output "convert" {
  value = can(tonumber("x"))
}
output "unknown" {
  value = try(local.unknown, "d")
}
output "attr" {
  value = try(local.unknown.foo, "d")
}
output "count" {
  value = try(terraform_data.none[0].id, "none")
}
output "splat" {
  value = terraform_data.none[*].id
}
output "len" {
  value = length(terraform_data.none)
}
output "all" {
  value = try(tonumber("x"), [1][2], "last")
}
resource "terraform_data" "none" {
  count = 0
}
