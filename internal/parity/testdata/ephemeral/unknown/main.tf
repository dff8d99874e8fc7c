terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

resource "terraform_data" "name" {}

ephemeral "fault_token" "t" {
  name = terraform_data.name.id
}

resource "fault_object" "o" {
  name   = "x"
  secret = ephemeral.fault_token.t.token
}
