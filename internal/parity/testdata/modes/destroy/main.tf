resource "terraform_data" "a" {
  input = { k = 1 }
}
resource "terraform_data" "b" {
  for_each = { x = terraform_data.a.id }
  input    = each.value
}
output "o" {
  value = terraform_data.b["x"].id
}
