variable "s" {
  default   = "hush2"
  sensitive = true
}
resource "terraform_data" "a" {
  input = sensitive({ k = nonsensitive(var.s), l = [1, "q"], plain = "x" })
}
output "o" {
  value     = var.s
  sensitive = true
}
