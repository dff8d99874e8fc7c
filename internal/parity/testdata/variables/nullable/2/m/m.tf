variable "no" {
  nullable = false
}
variable "yes" {
  default = "d"
}
output "no" {
  value = var.no
}
output "yes" {
  value = var.yes
}
