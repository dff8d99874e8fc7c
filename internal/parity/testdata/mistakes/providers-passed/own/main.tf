provider "time" {
  configured = true
}
