variable "prefix" {
  default = "pre"
}
locals {
  id = "${var.prefix}-fix"
}
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
import {
  to = terraform_data.a
  id = local.id
}
import {
  to = terraform_data.b
  id = terraform_data.a.id
}
output "o" {
  value = terraform_data.b
}
