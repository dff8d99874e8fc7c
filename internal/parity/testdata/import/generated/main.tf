import {
  to = simcloud_config.c
  id = "prod/shop/c"
}
import {
  to       = simcloud_network_rule.r
  id       = "prod/shop/r"
  provider = simcloud
}
resource "terraform_data" "x" {
  input = 1
}
