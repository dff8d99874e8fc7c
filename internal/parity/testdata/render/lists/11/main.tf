resource "terraform_data" "a" {
  input = ["x\nyy\nz", "b"]
}
