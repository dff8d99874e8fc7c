variable "v" {
  validation {
    condition     = var.v < local.limit && terraform_data.in[0].id != "" && module.deep.o != var.v
    error_message = "no"
  }
}
locals {
  limit = 2
}
resource "terraform_data" "in" {
  count = 1
}
resource "terraform_data" "use" {
  input = var.v
}
module "deep" {
  source = "../deep"
}
