variable "v" {
  default = "a"
}
resource "terraform_data" "a" {
  input = "a"
}
