resource "terraform_data" "a" {
  input = { a = 1, name = "n", tags = { x = 1 }, n = null }
}
