variable "v" {}
output "v" {
  value = var.v
}
