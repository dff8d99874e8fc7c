resource "terraform_data" "p" {}
