resource "terraform_data" "a" {
  for_each = { x = 1 }
  input    = each.value
}
