removed {
  from = terraform_data.in
  lifecycle {
    destroy = false
  }
}
resource "terraform_data" "keep" {}
module "deep" {
  source = "../deep"
}
