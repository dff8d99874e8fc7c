variable "list" {
  type = list(string)
}

resource "terraform_data" "inner" {
  inputt = 1
}

resource "terraform_data" "undeclared" {
  input = var.nope
}
