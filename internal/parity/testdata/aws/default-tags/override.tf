provider "aws" {
  default_tags {
    tags = { owner = "parity", env = "test" }
  }
}
