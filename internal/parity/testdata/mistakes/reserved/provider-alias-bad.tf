provider "test" { alias = 1 }
provider "test" { alias = "a b" }
provider "test" { alias = null }
provider "test" { alias = var.x }
