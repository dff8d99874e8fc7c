resource "terraform_data" "a" {
  input = { a = sensitive([1, 2]), b = {} }
}