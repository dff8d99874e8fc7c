resource "terraform_data" "a" {
  count = 2
  input = terraform_data.a[0].id
}
