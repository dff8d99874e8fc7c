locals {
  l = ["a", "b"]
}
resource "terraform_data" "a" {
  input = 1
}
