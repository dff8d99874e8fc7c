resource "terraform_data" "n" {
  count = 1
}
resource "terraform_data" "e" {
  count = 1
}
