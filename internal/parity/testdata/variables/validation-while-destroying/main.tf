variable "v" {
  default = 1
  validation {
    condition     = var.v == terraform_data.a.output
    error_message = "it is ${var.v}"
  }
}
variable "inner" {
  default = 1
}
resource "terraform_data" "a" {
  input = 1
}
module "m" {
  source = "./m"
  count  = 2
  v      = var.inner
}
