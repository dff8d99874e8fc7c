resource "terraform_data" "a" {
  input = jsonencode({ a = [1, 2], b = "x" })
}
