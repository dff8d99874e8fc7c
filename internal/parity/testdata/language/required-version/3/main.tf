terraform {
  required_version = "nope"
}
