module "m" {
  source = "./m"
}
removed {
  from = module.m
  lifecycle {
    destroy = true
  }
}
