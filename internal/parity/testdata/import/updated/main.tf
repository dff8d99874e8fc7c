resource "terraform_data" "a" {
  input = "new"
}
import {
  to = terraform_data.a
  id = "one"
}
