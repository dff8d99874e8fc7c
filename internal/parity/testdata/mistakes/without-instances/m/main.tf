variable "given" {
  type = number
}

resource "terraform_data" "a" {
  input = upper([var.given])
}

output "out" {
  value = upper({ a = terraform_data.a.id })
}
