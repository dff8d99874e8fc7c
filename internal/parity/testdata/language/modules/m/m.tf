variable "v" {}
module "deep" {
  source = "./deep"
  v      = var.v
}
output "o" {
  value = module.deep.o
}
