resource "terraform_data" "a" {
  input = toset(["a", "b"])
}
