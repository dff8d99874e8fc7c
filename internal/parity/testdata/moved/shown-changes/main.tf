resource "terraform_data" "chain" {
  input = 1
}
resource "terraform_data" "stays" {}
resource "terraform_data" "taken" {}
resource "terraform_data" "lost" {}
resource "terraform_data" "updated" {
  input = 1
}
resource "terraform_data" "replaced" {}
resource "terraform_data" "single" {
  count = 3
}
module "m" {
  source = "./m"
  count  = 2
}
