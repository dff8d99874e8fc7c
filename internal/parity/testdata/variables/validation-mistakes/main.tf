variable "v" {
  default = 1
  validation {
    condition     = local.x == 1
    error_message = "no"
  }
}
locals {
  x = 1
}
