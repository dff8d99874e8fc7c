resource "terraform_data" "a" {
  input = 12345678901234567890
}
