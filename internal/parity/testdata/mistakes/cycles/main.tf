module "m" {
  source = "./m"
  x      = module.m.o
}
variable "q" {
  default = 1
  validation {
    condition     = var.q == local.z
    error_message = "x"
  }
}
locals {
  z = var.q
}
locals {
}
resource "terraform_data" "a" {
  count = length(terraform_data.b)
}
resource "terraform_data" "b" {
  count = length(terraform_data.a)
}
