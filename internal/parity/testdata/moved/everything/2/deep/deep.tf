resource "terraform_data" "in" {}
resource "terraform_data" "out" {}
