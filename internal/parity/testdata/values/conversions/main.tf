output "list" {
  value = try(tolist(["a", 1, true]), "failed")
}
output "map" {
  value = try(tomap({ a = 1, b = true }), "failed")
}
output "set" {
  value = try(toset([1, "a"]), "failed")
}
output "num" {
  value = try(tonumber("1.50"), "failed")
}
output "boolean" {
  value = try(tobool("true"), "failed")
}
output "text" {
  value = try(tostring(1.0), "failed")
}
output "bad" {
  value = try(tonumber("x"), "failed")
}
output "nulltext" {
  value = try(tostring(null), "failed")
}
output "obj" {
  value = try(tomap({ a = [1], b = ["x"] }), "failed")
}
output "bad_bool" {
  value = try(tobool("yes"), "failed")
}
output "nulls" {
  value = try(tolist(null), "failed")
}
