variable "v" {
  default = 1
  validation {
    condition     = var.v == 1
    error_message = "v"
  }
}
module "m" {
  source = "./m"
  count  = 2
  v      = var.v
}
output "root" {
  value = 1
  precondition {
    condition     = var.v == 1
    error_message = "o"
  }
}
resource "terraform_data" "a" {
  count = 2
  lifecycle {
    precondition {
      condition     = var.v == 1
      error_message = "o"
    }
  }
}
check "c" {
  assert {
    condition     = var.v == 1
    error_message = "c"
  }
}
