resource "terraform_data" "inner" {
  count = 1
}
resource "terraform_data" "one" {}
resource "terraform_data" "twin" {
  count = 1
}
