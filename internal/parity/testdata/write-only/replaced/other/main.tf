terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

resource "fault_object" "o" {
  name   = "x"
  fault  = "replace-secret@plan"
  secret = "two"
}
