provider "time" { alias = "x" }
provider "time" { alias = "x" }
