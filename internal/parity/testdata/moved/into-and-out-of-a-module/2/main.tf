resource "terraform_data" "y" {}
module "m" {
  source = "./m"
}
moved {
  from = terraform_data.a
  to   = module.m.terraform_data.b
}
moved {
  from = module.m.terraform_data.x
  to   = terraform_data.y
}
