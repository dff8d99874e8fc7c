resource "terraform_data" "a" {
  input = ["a", "b", "b", "b"]
}
