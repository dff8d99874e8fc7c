variable "v" {}
output "o" {
  value = var.v
}
output "mixed" {
  value = { plain = "p", secret = var.v }
}
