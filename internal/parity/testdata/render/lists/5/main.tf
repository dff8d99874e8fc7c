resource "terraform_data" "a" {
  input = [1, 2, null]
}
