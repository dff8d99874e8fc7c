resource "terraform_data" "a" {
  input = toset(["b", "c"])
}
