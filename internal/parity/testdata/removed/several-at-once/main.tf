resource "terraform_data" "a" {
  count = 2
  input = { k = "v", n = null, l = [1, 2] }
}
resource "terraform_data" "b" {}
module "m" {
  source = "./m"
}
