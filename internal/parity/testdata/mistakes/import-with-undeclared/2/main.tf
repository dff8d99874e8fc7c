resource "terraform_data" "b" {}
import {
  to = terraform_data.b
  id = var.x
}
