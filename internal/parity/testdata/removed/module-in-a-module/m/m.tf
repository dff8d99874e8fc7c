resource "terraform_data" "in" {}
resource "terraform_data" "keep" {}
module "deep" {
  source = "../deep"
}
