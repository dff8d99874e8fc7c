resource "terraform_data" "c" {}
removed {
  from = terraform_data.a
  lifecycle {
    destroy = false
  }
}
removed {
  from = terraform_data.b
}
removed {
  from = module.m
  lifecycle {
    destroy = false
  }
}
