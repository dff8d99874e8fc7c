resource "terraform_data" "a" {}
resource "terraform_nope" "b" {}
data "terraform_data" "c" {}
output "o" {
  value = terraform_data.a.nope
}
