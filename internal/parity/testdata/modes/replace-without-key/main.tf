resource "terraform_data" "counted" {
  count = 2
}
resource "terraform_data" "each" {
  for_each = toset(["x"])
}
resource "terraform_data" "one" {}
resource "terraform_data" "none" {
  count = 0
}
module "m" {
  source = "./m"
  count  = 2
}
resource "terraform_data" "twin" {
  count = 1
}
