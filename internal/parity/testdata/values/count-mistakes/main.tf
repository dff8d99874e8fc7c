resource "terraform_data" "nothing" {
  count = null
}
resource "terraform_data" "half" {
  count = 1.5
}
resource "terraform_data" "negative" {
  count = -1
}
resource "terraform_data" "text" {
  count = "x"
}
resource "terraform_data" "list" {
  count = [1]
}
