variable "secret" {
  default   = "x"
  sensitive = true
}
resource "terraform_data" "text_count" {
  count = "2"
}
resource "terraform_data" "secret_count" {
  count = sensitive(1)
}
resource "terraform_data" "secret_values" {
  for_each = { k = var.secret }
  input    = each.value
}
resource "terraform_data" "none" {
  count = 0
}
output "keys" {
  value = { for i, v in terraform_data.text_count : i => v.input }
}
output "each" {
  value = keys(terraform_data.secret_values)
}
output "none" {
  value = terraform_data.none
}
