resource "terraform_data" "a" {
}
resource "terraform_data" "c" {
  for_each = { known = terraform_data.a.id }
  input    = each.value
}
resource "terraform_data" "free" {
}
