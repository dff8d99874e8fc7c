variable "s" {
  type      = string
  default   = "hush2"
  sensitive = true
}
variable "num" { default = 1 }
locals {
  l = { k = var.s, id = terraform_data.a.id }
}
resource "terraform_data" "a" {
  input = "xx"
}
resource "terraform_data" "b" {
  input            = { list = ["a", 2], map = { a = "b", "c d" = null }, json = jsonencode({ a = [1] }), sec = "plain", num = 1.5, nothing = null, l = local.l }
  triggers_replace = ["new"]
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "c" {
  for_each = toset(["k", "y"])
  input    = upper(each.key)
}
resource "terraform_data" "d" {
  count = var.num
  input = [terraform_data.c["k"].id, count.index]
}
module "m" {
  source = "./m"
  count  = 1
  v      = terraform_data.a.output
}
output "o" { value = terraform_data.b.input.sec }
output "s" {
  value     = var.s
  sensitive = true
}
output "n" { value = module.m[*].o }
output "nothing" { value = 1 }
output "const" { value = [1] }
