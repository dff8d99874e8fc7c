terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
  provider_meta "fault" {
    module = "root"
  }
}

resource "fault_object" "o" {
  name = "x"
}
