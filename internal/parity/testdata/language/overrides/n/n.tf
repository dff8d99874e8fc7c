variable "v" {}
variable "w" {
  default = 2
}
resource "terraform_data" "in" {
  input = [var.v, var.w]
}
