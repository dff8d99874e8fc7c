terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

resource "fault_object" "o" {
  name   = "x"
  secret = "one"
}

output "secret" {
  value     = fault_object.o.secret == null
  sensitive = true
}
