terraform {
  required_providers {
    simcloud = {
      source = "towline/simcloud"
    }
  }
}

resource "simcloud_config" "settings" {
  environment = var.environment
  service     = var.name
  name        = "settings"
  data        = merge({ LOG_LEVEL = "info" }, var.settings)
  labels      = var.labels
}

resource "simcloud_secret_claim" "secret" {
  for_each = var.secrets

  environment = var.environment
  service     = var.name
  name        = each.key
  length      = 48
  labels      = var.labels
}

resource "simcloud_deployment" "this" {
  environment = var.environment
  service     = var.name
  name        = var.name
  replicas    = var.replicas
  labels      = var.labels

  container {
    name       = var.name
    image      = var.image
    cpu        = 0.5
    memory_mib = 512

    env = merge(
      { SETTINGS_SHA256 = simcloud_config.settings.checksum },
      { for name, secret in simcloud_secret_claim.secret : "SECRET_${upper(replace(name, "-", "_"))}" => secret.path },
    )

    port {
      name   = "main"
      number = var.port
    }
    port {
      name   = "metrics"
      number = 9100
    }
  }
}

resource "simcloud_service" "this" {
  environment = var.environment
  service     = var.name
  name        = var.name
  selector    = { app = simcloud_deployment.this.labels["app"] }
  ports       = [{ name = "main", port = var.port }]
  labels      = var.labels
}
