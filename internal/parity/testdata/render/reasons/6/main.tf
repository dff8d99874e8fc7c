resource "terraform_data" "n" {
  count = 1
}
