resource "terraform_data" "r" {}
removed {
  from = module.m.module.deep
  lifecycle {
    destroy = false
  }
}
