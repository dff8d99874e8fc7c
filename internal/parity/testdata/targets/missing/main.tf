resource "terraform_data" "a" {
  count = 2
}
resource "terraform_data" "b" {
  count = 2
  input = terraform_data.a[count.index].id
}
resource "terraform_data" "c" {
  input = terraform_data.b[0].id
}
resource "terraform_data" "free" {}
output "b" {
  value = terraform_data.b[*].id
}
output "free" {
  value = terraform_data.free.id
}
