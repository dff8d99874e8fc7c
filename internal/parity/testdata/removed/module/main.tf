resource "terraform_data" "r" {}
module "m" {
  source = "./m"
}
