terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
  provider_meta "fault" {
    nope = "root"
  }
}

resource "fault_object" "o" {
  name = "y"
}
