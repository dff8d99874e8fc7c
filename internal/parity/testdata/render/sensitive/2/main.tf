variable "s" {
  default   = "hush2"
  sensitive = true
}
resource "terraform_data" "a" {
  input = { k = var.s, l = [1, var.s], plain = "p" }
}
output "o" {
  value     = var.s
  sensitive = true
}
