resource "terraform_data" "u" {}
locals {
  unknown = terraform_data.u.id
}
output "lists" {
  value = [] == tolist([])
}
output "maps" {
  value = {} == tomap({})
}
output "text" {
  value = "1" == 1
}
output "nulls" {
  value = null == null
}
output "objects" {
  value = { a = 1 } == { a = 1 }
}
output "order" {
  value = [1, 2] == [2, 1]
}
output "sets" {
  value = toset([1, 2]) == toset([2, 1])
}
output "bool" {
  value = true == "true"
}
output "not_null" {
  value = { a = null } == { a = null }
}
output "unknown_number" {
  value = local.unknown == 1
}
output "not_equal" {
  value = "a" != "b"
}
