variable "n" {
  type = number
}

resource "terraform_data" "guarded" {
  count = var.n
  input = count.index
  lifecycle {
    prevent_destroy = true
  }
}

resource "terraform_data" "needs" {
  input = terraform_data.guarded[*].id
}

resource "terraform_data" "apart" {
  input = var.n
}

output "apart" {
  value = terraform_data.apart.output
}

output "guarded" {
  value = terraform_data.guarded[*].id
}
