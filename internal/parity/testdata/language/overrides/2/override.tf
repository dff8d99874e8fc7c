variable "v" {
  default = "first"
}
module "m" {
  v = "over"
}
output "o" {
  value = terraform_data.b.id
}
