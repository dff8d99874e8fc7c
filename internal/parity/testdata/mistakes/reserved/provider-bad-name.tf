provider "a b" {}
provider "A" {}
provider "a_b" {}
