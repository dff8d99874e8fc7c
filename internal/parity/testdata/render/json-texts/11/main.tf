resource "terraform_data" "a" {
  input = jsonencode({ a = ["a", "x", "c", "d"], s = { t = { u = false } } })
}
