resource "terraform_data" "end" {
  input = 1
}
resource "terraform_data" "taken" {}
resource "terraform_data" "changed" {
  input            = terraform_data.end.id
  triggers_replace = 1
}
resource "terraform_data" "counted" {
  count = 2
}
resource "terraform_data" "single" {}
resource "terraform_data" "each" {
  for_each = toset(["a", "b"])
}
module "n" {
  source = "./m"
  count  = 2
}
module "list" {
  source = "./m"
  count  = 1
}
output "o" {
  value = terraform_data.end.id
}
moved {
  from = terraform_data.middle
  to   = terraform_data.end
}
moved {
  from = terraform_data.chain
  to   = terraform_data.middle
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
  from = terraform_data.each[0]
  to   = terraform_data.each["a"]
}
moved {
  from = terraform_data.each[1]
  to   = terraform_data.each["b"]
}
moved {
  from = module.m
  to   = module.n
}
moved {
  from = module.one
  to   = module.list[0]
}
