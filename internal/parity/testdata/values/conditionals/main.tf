resource "terraform_data" "u" {}
locals {
  unknown = terraform_data.u.id
}
output "maps" {
  value = true ? { a = 1 } : { b = 2 }
}
output "mixed" {
  value = true ? { a = 1 } : { b = "x" }
}
output "lists" {
  value = true ? [1, "a"] : []
}
output "sensitive" {
  value = issensitive(true ? "a" : sensitive("b"))
}
output "equal_arms" {
  value = local.unknown == "q" ? [1] : [1]
}
output "short" {
  value = false && local.unknown == "q"
}
output "either" {
  value = true || local.unknown == "q"
}
output "nulls" {
  value = true ? null : "x"
}
output "number" {
  value = true ? 1 : "2"
}
