resource "terraform_data" "r" {}
module "m" {
  source = "./m"
  count  = 2
}
import {
  for_each = { first = 0, second = 1 }
  to       = module.m[each.value].terraform_data.in
  id       = each.key
}
