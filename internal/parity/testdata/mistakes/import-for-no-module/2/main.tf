resource "terraform_data" "c" {
  count = 2
}
import {
  to = module.q.terraform_data.c
  id = "x"
}
