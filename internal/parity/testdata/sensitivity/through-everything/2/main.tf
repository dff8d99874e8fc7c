variable "s" {
  default   = "hush"
  sensitive = true
}
module "m" {
  source = "./m"
  v      = nonsensitive(var.s)
}
resource "terraform_data" "a" {
  input = { secret = nonsensitive(var.s), plain = "p" }
}
resource "terraform_data" "from" {
  input = module.m.o
}
output "o" {
  value = nonsensitive(var.s)
}
output "part" {
  value = module.m.mixed.plain
}
