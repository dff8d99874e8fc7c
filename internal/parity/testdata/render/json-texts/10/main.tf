resource "terraform_data" "a" {
  input = jsonencode({ a = ["a", "b", "c", "d"], s = { t = { u = true } } })
}
