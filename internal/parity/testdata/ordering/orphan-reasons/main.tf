resource "terraform_data" "gone" {}
resource "terraform_data" "index" {
  count = 3
}
resource "terraform_data" "key" {
  for_each = toset(["a", "b"])
}
resource "terraform_data" "single" {}
module "gone" {
  source = "./m"
}
module "fewer" {
  source = "./m"
  count  = 2
}
