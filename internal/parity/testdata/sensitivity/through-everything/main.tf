variable "s" {
  default   = "hush"
  sensitive = true
}
module "m" {
  source = "./m"
  v      = var.s
}
resource "terraform_data" "a" {
  input = { secret = var.s, plain = "p" }
}
resource "terraform_data" "from" {
  input = module.m.o
}
output "o" {
  value     = var.s
  sensitive = true
}
output "part" {
  value = module.m.mixed.plain
}
