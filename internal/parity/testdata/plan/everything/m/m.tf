variable "v" {
  description = "what goes in"
}
variable "opt" {
  default   = { a = 1 }
  sensitive = true
}
resource "terraform_data" "in" {
  input      = var.v
  depends_on = [terraform_data.y]
}
resource "terraform_data" "y" {}
output "o" {
  value       = terraform_data.in.id
  description = "the id"
  depends_on  = [terraform_data.y]
}
output "whole" {
  value = terraform_data.in
}
