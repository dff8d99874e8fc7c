resource "terraform_data" "a" {
  input = jsonencode({ a = [1, 3, 4], b = "x", c = null })
}
