terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

ephemeral "fault_token" "t" {
  count = 1
  name  = "c${count.index}"
}

resource "fault_object" "o" {
  name   = "x"
  secret = one(ephemeral.fault_token.t[*].token)
}
