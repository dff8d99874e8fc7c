resource "terraform_data" "list" {
  for_each = ["a"]
}
resource "terraform_data" "nothing" {
  for_each = null
}
resource "terraform_data" "numbers" {
  for_each = toset([1, 2])
}
resource "terraform_data" "secret" {
  for_each = sensitive(toset(["a"]))
}
resource "terraform_data" "null_in_set" {
  for_each = toset([tostring(null)])
}
resource "terraform_data" "text" {
  for_each = "a"
}
