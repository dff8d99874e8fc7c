resource "terraform_data" "a" {
  input = jsonencode([])
}
