variable "v" {}
locals {
  l = 2
}
output "o" {
  value = 2
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
