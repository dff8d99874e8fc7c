resource "terraform_data" "a" {}
resource "terraform_data" "free" {}
module "m" {
  source = "./m"
  v      = terraform_data.a.id
}
resource "terraform_data" "z" {
  input      = module.m.o
  depends_on = [terraform_data.free]
}
