resource "terraform_data" "a" {
  input = { a = [1, sensitive(2)], b = sensitive({}) }
}
resource "terraform_data" "b" {
  input = [terraform_data.a.input.a[1], toset([sensitive("x")])]
}