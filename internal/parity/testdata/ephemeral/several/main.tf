terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

ephemeral "fault_token" "t" {
  for_each = toset(["b"])
  name     = each.key
}

resource "fault_object" "o" {
  name   = "x"
  secret = ephemeral.fault_token.t["b"].token
}

output "names" {
  value = ephemeralasnull({ for k, t in ephemeral.fault_token.t : k => t.name })
}
