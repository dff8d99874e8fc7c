resource "terraform_data" "e" {
  for_each = toset(["x", "y", "z"])
  input    = 1
}
import {
  for_each = { x = "id-x", y = "id-y" }
  to       = terraform_data.e[each.key]
  id       = each.value
}
