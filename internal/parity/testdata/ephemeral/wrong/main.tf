terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

ephemeral "fault_token" "t" {
  name = "a"
}

resource "terraform_data" "a" {
  input            = ephemeral.fault_token.t.token
  triggers_replace = [ephemeral.fault_token.t.name]
}

resource "terraform_data" "b" {
  count = length(ephemeral.fault_token.t.token)
}

output "o" {
  value = { token = ephemeral.fault_token.t.token }
}
