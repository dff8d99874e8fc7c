variable "v" {
  validation {
    condition     = var.v == 1
    error_message = "it is ${var.v}"
  }
}
