resource "terraform_data" "a" {
  input = ["c", "a", "b"]
}
