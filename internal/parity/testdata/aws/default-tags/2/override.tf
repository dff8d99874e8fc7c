provider "aws" {
  default_tags {
    tags = { owner = "other" }
  }
}
