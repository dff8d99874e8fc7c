output "a" {
  value = tolist(["y"])
}
output "n" {
  value = null
}