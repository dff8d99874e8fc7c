variable "no" {
  default  = "d"
  nullable = false
}
variable "yes" {
  default = "d"
}
variable "required" {
  default = "z"
}
output "no" {
  value = var.no
}
output "yes" {
  value = var.yes
}
