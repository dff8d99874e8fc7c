terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

variable "secret" {
  sensitive = true
  default   = "hush"
}

resource "fault_object" "o" {
  name   = "x"
  secret = var.secret
}
