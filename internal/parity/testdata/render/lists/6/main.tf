resource "terraform_data" "a" {
  input = [1, 3, "x"]
}
