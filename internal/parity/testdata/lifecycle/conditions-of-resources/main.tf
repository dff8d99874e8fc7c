variable "pre" {
  default = true
}
variable "post" {
  default = true
}
resource "terraform_data" "a" {
  input = 1
  lifecycle {
    precondition {
      condition     = var.pre
      error_message = "pre"
    }
    postcondition {
      condition     = var.post && self.id != "q"
      error_message = "post of ${self.input}"
    }
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
resource "terraform_data" "sibling" {}
output "o" {
  value = terraform_data.sibling.id
  precondition {
    condition     = var.pre
    error_message = "output"
  }
}
