terraform {
  required_version = ">= 1.9, < 2.0"
}
