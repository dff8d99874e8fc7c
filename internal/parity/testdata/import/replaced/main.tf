resource "terraform_data" "a" {
  triggers_replace = 1
}
import {
  to = terraform_data.a
  id = "one"
}
