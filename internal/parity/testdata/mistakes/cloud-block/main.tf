terraform {
  cloud {
    organization = "example"
    workspaces {
      name = "production"
    }
  }
}
