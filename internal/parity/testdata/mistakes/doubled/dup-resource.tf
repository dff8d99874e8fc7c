resource "terraform_data" "a_0" {}
resource "terraform_data" "a_0" {}
