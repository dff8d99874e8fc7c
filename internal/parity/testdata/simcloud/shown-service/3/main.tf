terraform {
  required_providers {
    simcloud = {
      source = "towline/simcloud"
    }
  }
}
provider "simcloud" {}
resource "simcloud_service" "this" {
  environment   = "prod"
  service       = "shop"
  name          = "s"
  selector      = { app = "web" }
  ports         = [{ name = "metrics", port = 9091 }, { name = "b", port = 1 }]
  allowed_cidrs = []
}
