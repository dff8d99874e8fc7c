resource "terraform_data" "a" {}
import {
  to = terraform_data.a
  id = "x"
}
removed {
  from = terraform_data.same
}
removed {
  from = terraform_data.made
  lifecycle {
    destroy = false
  }
}
