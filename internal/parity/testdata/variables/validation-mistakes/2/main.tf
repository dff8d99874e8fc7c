variable "v" {
  default = 1
  validation {
    condition     = var.v.x
    error_message = "no"
  }
}
