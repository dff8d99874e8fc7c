resource "terraform_data" "a" {
  input = { a = 2, name = "n", tags = { x = 1 }, n = null }
}
