terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

resource "fault_object" "o" {
  name   = "n"
  fault  = "replace-name@plan"
  items  = [{ key = "k" }]
  labels = ["l"]
  size   = 6
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
