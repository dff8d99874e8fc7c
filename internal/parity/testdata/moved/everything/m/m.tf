resource "terraform_data" "in" {
  count = 2
}
resource "terraform_data" "out" {}
module "deep" {
  source = "../deep"
}
