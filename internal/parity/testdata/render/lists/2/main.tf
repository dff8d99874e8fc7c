resource "terraform_data" "a" {
  input = ["a", "b", "c", "x", "e", "f"]
}
