resource "terraform_data" "a" {
  input = { k = "v", s = sensitive("x") }
}
resource "terraform_data" "n" {
  count = 2
}
resource "terraform_data" "e" {
  for_each = toset(["k"])
}
module "m" {
  source = "./m"
}
output "o" {
  value = terraform_data.a.id
}
