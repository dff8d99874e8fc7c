variable "v" {
  validation {
    condition     = var.v == 1
    error_message = "mv"
  }
}
output "o" {
  value = var.v
  precondition {
    condition     = var.v == 1
    error_message = "mo"
  }
}
resource "terraform_data" "in" {
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
    error_message = "mc"
  }
}
