variable "s" {
  default   = "hush"
  sensitive = true
}
output "a" {
  value = var.s
}
