terraform {
  required_providers {
    fault = { source = "towline/fault" }
    v5    = { source = "towline/v5" }
  }
}

provider "v5" {
  endpoint = "e"
}

ephemeral "v5_token" "t" {
  text = "a"
}

resource "v5_thing" "o" {
  name   = "x"
  secret = ephemeral.v5_token.t.result
}
