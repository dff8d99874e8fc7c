resource "terraform_data" "in" {}
module "deep" {
  source = "../n"
}
