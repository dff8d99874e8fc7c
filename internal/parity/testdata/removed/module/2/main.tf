resource "terraform_data" "r" {}
removed {
  from = module.m
  lifecycle {
    destroy = false
  }
}
