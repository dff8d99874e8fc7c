terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

provider "fault" {
  alias = "vault"
}

provider "fault" {
  region = ephemeral.fault_token.t.token
}

ephemeral "fault_token" "t" {
  provider = fault.vault
  name     = "key"
}

resource "fault_object" "o" {
  name = "x"
}
