variable "s" {
  default   = "hush"
  sensitive = true
}
locals {
  map = { a = var.s, b = "plain" }
}
output "join" {
  value = issensitive(join(",", ["a", var.s]))
}
output "part" {
  value = issensitive(local.map.b)
}
output "lookup" {
  value = issensitive(lookup(local.map, "b"))
}
output "keys" {
  value = issensitive(keys(local.map))
}
output "values" {
  value = issensitive(values(local.map)[1])
}
output "length" {
  value = issensitive(length(local.map))
}
output "merge" {
  value = issensitive(merge(local.map, {}).b)
}
output "json" {
  value = issensitive(jsonencode(local.map))
}
output "non" {
  value = nonsensitive(var.s)
}
output "cond" {
  value = issensitive(var.s == "x" ? 1 : 2)
}
output "tern" {
  value = issensitive([for k, v in local.map : k][0])
}
output "attr" {
  value = issensitive({ (nonsensitive(var.s)) = 1 })
}
