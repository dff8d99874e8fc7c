resource "terraform_data" "new" {
  count = 2
}
module "deep" {
  source = "../deep"
}
moved {
  from = terraform_data.in
  to   = terraform_data.new
}
moved {
  from = terraform_data.out
  to   = module.deep.terraform_data.out
}
