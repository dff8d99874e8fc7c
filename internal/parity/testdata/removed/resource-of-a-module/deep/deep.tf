resource "terraform_data" "far" {}
