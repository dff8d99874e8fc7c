resource "terraform_data" "index" {
  count = 1
}
resource "terraform_data" "key" {
  for_each = toset(["b", "c"])
}
resource "terraform_data" "single" {
  for_each = toset(["x"])
}
module "fewer" {
  source = "./m"
  count  = 1
}
