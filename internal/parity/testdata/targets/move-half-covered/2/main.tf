resource "terraform_data" "n" {
}
resource "terraform_data" "z" {
}
moved {
  from = terraform_data.a
  to   = terraform_data.n
}
