resource "terraform_data" "z" {
  count = 12
}
resource "terraform_data" "a" {
}
module "b" {
  source = "./m"
}
module "a" {
  source   = "./m"
  for_each = { x = 1, a = 2 }
}