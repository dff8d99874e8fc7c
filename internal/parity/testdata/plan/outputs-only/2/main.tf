output "a" {
  value = [1]
}
output "b" {
  value     = sensitive("x")
  sensitive = true
}