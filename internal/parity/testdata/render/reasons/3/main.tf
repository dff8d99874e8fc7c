resource "terraform_data" "n" {
  for_each = toset(["z"])
}
resource "terraform_data" "e" {
  count = 1
}
module "m" {
  source = "./m"
  count  = 1
}