variable "s" {
  type      = string
  default   = "hush"
  sensitive = true
}
variable "num" { default = 3 }
locals {
  l = { k = var.s, id = terraform_data.a.id }
}
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "b" {
  input            = { list = ["a", 1], map = { a = "b", "c d" = null }, json = jsonencode({ a = [1] }), sec = var.s, num = 1.5, nothing = null, l = local.l }
  triggers_replace = [terraform_data.a.id, terraform_data.a.id]
}
resource "terraform_data" "c" {
  for_each = toset(["k", "z"])
  input    = upper(each.key)
}
resource "terraform_data" "d" {
  count = var.num
  input = [terraform_data.c["k"].id, terraform_data.c["k"].output, terraform_data.c, values(terraform_data.c)[*].id, count.index]
}
module "m" {
  source     = "./m"
  count      = 2
  v          = terraform_data.a.output
  depends_on = [terraform_data.c]
}
module "n" {
  source   = "./m"
  for_each = { x = 1, y = 2 }
  v        = each.value
  opt      = { a = local.l.k }
}
output "o" { value = nonsensitive(terraform_data.b.input.sec) }
output "ol" { value = ["a", terraform_data.a.id] }
output "s" {
  value     = var.s
  sensitive = true
}
output "n" { value = module.m[*].o }
output "n0" { value = [module.m[0].o, module.n["x"].whole.id, module.n] }
output "nothing" { value = null }
output "const" {
  value      = { a = [1, "x", true, null] }
  depends_on = [terraform_data.d]
}
