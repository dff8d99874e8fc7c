variable "s" {
  default   = "hush2"
  sensitive = true
}
resource "terraform_data" "a" {
  input = { k = nonsensitive(var.s), l = [1, "q"], plain = var.s }
}
output "o" {
  value = nonsensitive(var.s)
}
