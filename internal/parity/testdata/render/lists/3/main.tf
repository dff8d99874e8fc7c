resource "terraform_data" "a" {
  input = ["b", "c", "x", "e", "f", "g"]
}
