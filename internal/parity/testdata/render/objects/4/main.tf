resource "terraform_data" "a" {
  input = { a = 2, "odd key" = { deep = { deeper = [2] } }, n = "now" }
}
