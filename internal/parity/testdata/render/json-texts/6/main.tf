resource "terraform_data" "a" {
  input = "not json"
}
