resource "terraform_data" "r" {}
removed {
  from = module.m.terraform_data.in
  lifecycle {
    destroy = false
  }
}
