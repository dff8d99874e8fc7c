resource "terraform_data" "c" {
  count = 2
}
resource "terraform_data" "b" {}
import {
  for_each = toset([terraform_data.b.id])
  to       = terraform_data.c[0]
  id       = each.key
}
