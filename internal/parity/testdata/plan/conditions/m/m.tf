variable "v" {
  validation {
    condition     = var.v != "q"
    error_message = "no"
  }
}
output "o" {
  value = var.v
  precondition {
    condition     = var.v != "q"
    error_message = "no"
  }
}
