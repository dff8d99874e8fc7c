resource "terraform_data" "b" {
  input = "none"
}
