resource "terraform_data" "a" {
  input = tomap({ a = "1", "b c" = "2" })
}
