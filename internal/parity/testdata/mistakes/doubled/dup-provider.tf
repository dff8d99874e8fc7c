provider "time" {}
provider "time" {}
