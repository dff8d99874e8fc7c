resource "terraform_data" "a" {}
resource "terraform_data" "b" {}
moved {
  from = terraform_data.c
  to   = terraform_data.d
}
