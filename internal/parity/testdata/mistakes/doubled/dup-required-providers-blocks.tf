terraform {
  required_providers { time = { source = "hashicorp/time" } }
}
terraform {
  required_providers { null = { source = "hashicorp/null" } }
}
