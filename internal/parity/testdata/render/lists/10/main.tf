resource "terraform_data" "a" {
  input = ["x\ny\nz", "b"]
}
