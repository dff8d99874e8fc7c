resource "terraform_data" "end" {
  input = 1
}
resource "terraform_data" "taken" {}
resource "terraform_data" "changed" {
  input = 2
}
resource "terraform_data" "anew" {
  triggers_replace = 1
}
resource "terraform_data" "single" {}
module "n" {
  source   = "./m"
  for_each = toset(["x y"])
}
moved {
  from = terraform_data.chain
  to   = terraform_data.middle
}
moved {
  from = terraform_data.middle
  to   = terraform_data.end
}
moved {
  from = terraform_data.stays
  to   = terraform_data.taken
}
moved {
  from = terraform_data.lost
  to   = terraform_data.nowhere
}
moved {
  from = terraform_data.updated
  to   = terraform_data.changed
}
moved {
  from = terraform_data.replaced
  to   = terraform_data.anew
}
moved {
  from = module.m[0]
  to   = module.n["x y"]
}
