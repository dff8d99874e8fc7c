resource "terraform_data" "a" {
  for_each = { y = 1 }
  input    = each.value
}
