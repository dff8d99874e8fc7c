terraform {
 required_providers {
  time = { 
    foo = "x"
    source = "hashicorp/time"
    }
  }
}
