resource "terraform_data" "a" {}
removed {
  from = terraform_data.x
  lifecycle {
    destroy = false
  }
}
