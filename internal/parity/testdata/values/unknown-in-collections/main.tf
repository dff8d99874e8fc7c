resource "terraform_data" "u" {}
locals {
  unknown = terraform_data.u.id
}
output "tuple" {
  value = length([local.unknown, local.unknown])
}
output "set" {
  value = length(toset([local.unknown, "a"]))
}
output "contains" {
  value = contains(["a", local.unknown], "a")
}
output "compact" {
  value = compact(["a", local.unknown])
}
output "coalesce" {
  value = coalesce("", local.unknown)
}
output "json" {
  value = jsonencode({ a = local.unknown })
}
output "keys" {
  value = keys({ a = local.unknown })
}
output "merge" {
  value = merge({ a = 1 }, { b = local.unknown })
}
output "join" {
  value = join(",", ["a", local.unknown])
}
output "format" {
  value = format("%s-x", local.unknown)
}
output "lookup" {
  value = lookup({ a = "1" }, local.unknown, "d")
}
output "index" {
  value = { a = "1", b = "2" }[local.unknown == "x" ? "a" : "b"]
}
output "each" {
  value = [for k in ["a", local.unknown] : k]
}
output "sum" {
  value = sum([1, 2])
}
