resource "terraform_data" "a" {
  triggers_replace = 1
  lifecycle {
    prevent_destroy = true
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
