resource "terraform_data" "c" {
  count = 2
}
moved {
  from = terraform_data.c[1]
  to   = terraform_data.c[5]
}
