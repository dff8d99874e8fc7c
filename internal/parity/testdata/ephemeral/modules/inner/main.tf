variable "token" {
  ephemeral = true
}

output "both" {
  value     = "${var.token == null ? "none" : var.token}!"
  ephemeral = true
}
