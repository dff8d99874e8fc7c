resource "terraform_data" "b" {}
moved {
  from = terraform_data.b[1]
  to   = terraform_data.b
}
