variable "a_4" {
  validation {
    condition = true
    error_message = "x"
  }
  validation {
    condition = var.b_4 == 1
    error_message = "x"
  }
  validation {
    condition = var.a_4 == 1
    error_message = "x"
  }
  validation {
    condition = var.a_4 == 1
    error_message = "Ends with dot."
  }
  validation {
    condition = var.a_4 == 1
    error_message = ""
  }
  validation {
    condition = var.a_4 == 1
  }
}
variable "b_4" {}
