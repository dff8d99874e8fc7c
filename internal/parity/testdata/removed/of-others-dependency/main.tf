resource "terraform_data" "a" {}
resource "terraform_data" "d" {
  input = terraform_data.a.id
}
