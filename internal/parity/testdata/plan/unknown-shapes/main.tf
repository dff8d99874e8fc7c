resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  input = { l = [terraform_data.a.id, "k"], m = { a = terraform_data.a.id }, s = toset([terraform_data.a.id, "x"]), t = tolist([terraform_data.a.id]), o = terraform_data.a, w = terraform_data.a.output, n = length(terraform_data.a.id), u = toset([terraform_data.a.id]) }
}
output "b" {
  value = terraform_data.b
}