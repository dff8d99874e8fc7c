variable "n" {
  type = number
}
resource "terraform_data" "a" {
  count = var.n
}
resource "terraform_data" "b" {
  input = terraform_data.a[*].id
}
