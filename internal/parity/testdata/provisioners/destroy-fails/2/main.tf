resource "terraform_data" "base" {
  input = "base"
}
resource "terraform_data" "a" {
  input = terraform_data.base.input
}
resource "terraform_data" "other" {}
