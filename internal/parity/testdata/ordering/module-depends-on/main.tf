resource "terraform_data" "first" {}
module "m" {
  source     = "./m"
  depends_on = [terraform_data.first]
}
resource "terraform_data" "last" {
  depends_on = [module.m]
}
