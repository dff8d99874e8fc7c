resource "terraform_data" "a b" {}
resource "a b" "x" {}
resource "1x" "y" {}
