output "a" {
  value = "y"
}
output "l" {
  value = [1, { k = "w" }]
}
output "n" {
  value = 1
}
output "j" {
  value = jsonencode({ a = 1 })
}