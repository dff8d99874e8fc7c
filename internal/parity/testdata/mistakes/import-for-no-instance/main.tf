resource "terraform_data" "c" {
  count = 2
}
