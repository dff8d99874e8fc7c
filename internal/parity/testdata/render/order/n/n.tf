resource "terraform_data" "deep" {}
