resource "terraform_data" "a" {}
resource "terraform_data" "bad" {
  input = tonumber(terraform_data.a.id)
}
resource "terraform_data" "after" {
  input = terraform_data.bad.id
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
