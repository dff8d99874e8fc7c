resource "terraform_data" "b" {}
import {
  to = terraform_data.b
  id = "x"
}
import {
  to = terraform_data.b
  id = "y"
}
