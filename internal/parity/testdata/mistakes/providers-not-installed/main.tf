terraform {
  required_providers {
    time = { source = "hashicorp/time" }
  }
}

resource "time_static" "a" {}

resource "fault_thing" "b" {}

