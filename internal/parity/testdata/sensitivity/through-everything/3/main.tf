variable "s" {
  default   = "hush"
  sensitive = true
}
module "m" {
  source = "./m"
  v      = nonsensitive(var.s)
}
resource "terraform_data" "a" {
  input = { secret = nonsensitive(var.s), plain = sensitive("p") }
}
resource "terraform_data" "from" {
  input = module.m.o
}
