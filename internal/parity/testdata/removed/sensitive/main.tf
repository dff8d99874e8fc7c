resource "terraform_data" "s" {
  input = sensitive("x")
}
output "o" {
  value = 1
}
