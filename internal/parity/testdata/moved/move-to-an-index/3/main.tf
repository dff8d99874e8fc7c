resource "terraform_data" "c" {}
moved {
  from = terraform_data.b[1]
  to   = terraform_data.c
}
