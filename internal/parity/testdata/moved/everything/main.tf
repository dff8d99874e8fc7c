resource "terraform_data" "chain" {
  input = 1
}
resource "terraform_data" "stays" {}
resource "terraform_data" "taken" {}
resource "terraform_data" "lost" {}
resource "terraform_data" "updated" {
  input = terraform_data.chain.id
}
resource "terraform_data" "counted" {}
resource "terraform_data" "single" {
  count = 3
}
resource "terraform_data" "each" {
  count = 2
}
module "m" {
  source = "./m"
  count  = 2
}
module "one" {
  source = "./m"
}
output "o" {
  value = terraform_data.chain.id
}
