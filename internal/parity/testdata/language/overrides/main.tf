variable "v" {
  type    = string
  default = "base"
}
variable "w" {
  default     = 1
  description = "stays"
}
locals {
  l = "base"
  k = "stays"
}
resource "terraform_data" "a" {
  input            = "base"
  triggers_replace = local.l
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "b" {
  input = [var.v, var.w, local.l, local.k]
}
resource "terraform_data" "c" {
  count = 2
}
module "m" {
  source = "./m"
  v      = "base"
}
output "o" {
  value       = terraform_data.a.input
  description = "stays"
}
