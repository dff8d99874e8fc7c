resource "terraform_data" "n" {
  count = 2
}
resource "terraform_data" "e" {
  for_each = toset(["a", "b"])
}
resource "terraform_data" "gone" {}
module "m" {
  source = "./m"
  count  = 2
}
module "gone" {
  source = "./m"
}