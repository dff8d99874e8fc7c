variable "v" {
  default = "ok"
  validation {
    condition     = length(var.v) > 0
    error_message = "empty"
  }
  validation {
    condition     = length(var.v) < 5 && var.w != "x"
    error_message = "too long: ${var.v}"
  }
}
variable "w" {
  default = "w"
}
output "v" {
  value = var.v
}
