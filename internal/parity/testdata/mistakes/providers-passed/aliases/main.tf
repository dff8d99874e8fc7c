terraform {
  required_providers {
    time = {
      source                = "hashicorp/time"
      configuration_aliases = [time.x]
    }
  }
}

provider "time" {}
