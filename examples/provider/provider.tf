terraform {
  required_version = ">= 1.11"
  required_providers {
    towline = {
      source = "towline/towline"
    }
  }
}

# openssl genpkey -algorithm ed25519 -out signing-key.pem
provider "towline" {
  signing_key_file = "signing-key.pem"
}

# One bucket, one environment, one agent: all that a first set-up needs.
resource "towline_repository" "main" {
  url          = "s3://example-towline/main?region=eu-central-1"
  environments = { prod = {} }
  channels     = { stable = {} }
}

resource "towline_scope" "all" {
  repository  = towline_repository.main.url
  environment = "prod"
  name        = "all"
  include     = [{ address = "**" }]
  max_deletes = 5
  drift       = { mode = "enforce", grace = "10m" }
}

resource "towline_agent" "one" {
  repository  = towline_repository.main.url
  environment = "prod"
  name        = "agent-1"
  channel     = "stable"
  scopes      = [towline_scope.all.name]
}
