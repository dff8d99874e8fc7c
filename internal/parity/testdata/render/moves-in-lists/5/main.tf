resource "terraform_data" "a" {
  input = ["x", "b", "a", "b", "c"]
}
