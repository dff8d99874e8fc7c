resource "terraform_data" "a" {
  input = 1
}
output "c" {
  value = 1
}
output "a" {
  value = terraform_data.a.input
}
