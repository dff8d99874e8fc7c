variable "low" {
  default = 5
  validation {
    condition     = var.low < var.high && var.low < local.limit && terraform_data.r.id != var.low
    error_message = "${var.low} is not below ${var.high}"
  }
}
variable "high" {
  default = 3
}
locals {
  limit = 10
}
resource "terraform_data" "r" {}
resource "terraform_data" "uses" {
  input = var.low
}
resource "terraform_data" "other" {}
module "m" {
  source = "./m"
  count  = 2
  v      = var.low
}
output "o" {
  value = var.low
}
