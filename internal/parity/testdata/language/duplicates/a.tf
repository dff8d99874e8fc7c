variable "v" {}
locals {
  l = 1
}
output "o" {
  value = 1
}
resource "terraform_data" "r" {}
module "m" {
  source = "./m"
}
check "c" {
  assert {
    condition     = true
    error_message = "x"
  }
}
