variable "v" {}
resource "terraform_data" "a" {
  input = var.v
}
check "c" {
  assert {
    condition     = terraform_data.a.output == "1"
    error_message = "output is ${terraform_data.a.output}"
  }
  assert {
    condition     = var.v != "3"
    error_message = "v"
  }
}
