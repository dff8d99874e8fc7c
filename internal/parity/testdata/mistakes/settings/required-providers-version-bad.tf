terraform {
 required_providers {
  time = { 
    source = "hashicorp/time" 
    version = "foo"
    }
  }
}
