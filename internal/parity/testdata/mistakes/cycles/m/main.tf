variable "x" {}
output "o" { value = var.x }
