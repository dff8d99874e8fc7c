terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

resource "fault_object" "o" {
  name   = "x"
  size   = 7
  secret = "other"
}
