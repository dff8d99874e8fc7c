module "m" {
  source = "./m"
}
moved {
  from = module.n
  to   = module.m
}
