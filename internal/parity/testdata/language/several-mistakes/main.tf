terraform {
  required_providers {
    simcloud = {
      source = "towline/simcloud"
    }
  }
}

resource "simcloud_deployment" "incomplete" {
  name  = "x"
  bogus = 1
  container {}
  foo {}
}

resource "simcloud_nope" "unknown_type" {
  anything = 1
}

data "simcloud_nope" "unknown_type" {}

resource "simcloud_service" "wrong_types" {
  environment = ["x"]
  service     = null
  name        = 5
  selector    = "x"
  ports       = [{ name = "x", port = "a" }, { foo = 1 }]
}

resource "terraform_data" "undeclared" {
  input = local.nope
}

resource "terraform_data" "unsupported" {
  inputt = 1
}

output "of_unknown_type" {
  value = simcloud_nope.unknown_type.id
}

output "of_wrong" {
  value = terraform_data.unsupported.id
}

output "function" {
  value = upper("a", "b")
}

module "m" {
  source = "./m"
  count  = 1
  list   = "no list"
}
