module "m" {
  source = "./m"
}
removed {
  from = module.m.terraform_data.in
  lifecycle {
    destroy = true
  }
}
