variable "n" {
  type = number
}
resource "terraform_data" "a" {
  count = var.n
  lifecycle {
    prevent_destroy = true
  }
}
