resource "terraform_data" "a" {
}
output "bad" {
  value = terraform_data.a.id + 1 + tonumber("x")
}
output "good" {
  value = 1
}
