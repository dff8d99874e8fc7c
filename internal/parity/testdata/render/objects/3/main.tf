resource "terraform_data" "a" {
  input = { a = 2, "odd key" = { deep = { deeper = [1] } } }
}
