terraform {
  required_providers {
    time = { source = "hashicorp/time" }
  }
}

module "inner" {
  source = "./inner"
  providers = {
    time = time
  }
}
