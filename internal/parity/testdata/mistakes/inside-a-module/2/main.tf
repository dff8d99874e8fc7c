module "m" {
  source = "./m"
}
moved {
  from = module.m.terraform_data.in
  to   = terraform_data.out
}
