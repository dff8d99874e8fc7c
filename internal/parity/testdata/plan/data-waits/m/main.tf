terraform {
  required_providers {
    v5 = { source = "towline/v5" }
  }
}

variable "text" {
  default = "none"
}

data "v5_echo" "inside" {
  text = var.text
}

output "text" {
  value = data.v5_echo.inside.text
}
