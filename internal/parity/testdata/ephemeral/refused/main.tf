terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

ephemeral "fault_token" "t" {
  name = "refused"
}

resource "terraform_data" "beside" {}

resource "fault_object" "o" {
  name   = "x"
  secret = ephemeral.fault_token.t.token
}
