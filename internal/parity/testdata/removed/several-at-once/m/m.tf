resource "terraform_data" "in" {
  input = [1]
}
