terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

resource "fault_object" "o" {
  name   = "n"
  fault  = "partial@apply"
  items  = [{ key = "k" }]
  labels = ["l"]
  size   = 5
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
