output "a" {
  value = "x"
}
output "l" {
  value = [1, { k = "v" }]
}
output "n" {
  value = null
}
output "t" {
  value = "l1\nl2"
}