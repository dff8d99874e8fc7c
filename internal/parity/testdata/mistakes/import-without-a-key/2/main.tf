resource "terraform_data" "c" {
  count = 2
}
import {
  to = terraform_data.c
  id = "x"
}
