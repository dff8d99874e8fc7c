terraform {
 required_providers {
  "a b" = { source = "hashicorp/time" }
  A = { source = "hashicorp/null" }
  a_b = { source = "hashicorp/foo" }
  }
}
