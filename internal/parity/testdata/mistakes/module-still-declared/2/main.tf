module "m" {
  source = "./m"
}
moved {
  from = module.m
  to   = module.x
}
