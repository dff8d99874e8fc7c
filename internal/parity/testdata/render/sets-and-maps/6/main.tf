resource "terraform_data" "a" {
  input = tolist(["a"])
}
