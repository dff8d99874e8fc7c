resource "terraform_data" {
}
variable "v" {
  typ = string
}
