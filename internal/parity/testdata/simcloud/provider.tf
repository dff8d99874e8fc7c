terraform {
  required_providers {
    simcloud = {
      source = "towline/simcloud"
    }
  }
}
provider "simcloud" {}
