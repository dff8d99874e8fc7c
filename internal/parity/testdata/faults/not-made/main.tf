terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

resource "fault_object" "o" {
  name   = "n"
  fault  = "fail@apply"
  items  = [{ key = "k" }]
  labels = ["l"]

  disk {
    size = 1
  }
  tag {
    key = "t"
  }
}

resource "terraform_data" "after" {
  input = fault_object.o.id
}

resource "terraform_data" "beside" {}
