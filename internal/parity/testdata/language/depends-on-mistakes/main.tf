resource "terraform_data" "b" {
  count = 1
}
variable "v" {
  default = { a = 1 }
}
module "m" {
  source = "./m"
}
output "o" { value = module.m.nothing }
output "q" { value = module.m.nothing.foo }
resource "terraform_data" "a" {
  depends_on = [terraform_data.b.id, terraform_data.b[0], terraform_data.b[0].id, var.v, var.v.a, module.m, module.m.x, path.module, data.foo.b.c, "terraform_data.b.id"]
}
output "x" {
  value      = 1
  depends_on = [terraform_data.b.id]
}
