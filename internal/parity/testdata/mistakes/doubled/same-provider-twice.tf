terraform {
  required_providers { 
   a = { source = "hashicorp/time" }
   b = { source = "hashicorp/time" }
  }
}
