# Four services in one environment, six objects each. Three environments make the 72
# objects of the thirty-day replay (make thirty-days).

terraform {
  required_providers {
    simcloud = {
      source  = "towline/simcloud"
      version = "~> 0.1"
    }
  }
}

provider "simcloud" {
  endpoint = var.endpoint
  token    = var.token
  actor    = var.actor
}

locals {
  labels = { for service in var.services : service => { app = service, release = var.release } }
}

resource "simcloud_deployment" "this" {
  for_each = var.services

  environment = var.environment
  service     = each.key
  name        = each.key
  replicas    = 2
  labels      = local.labels[each.key]

  container {
    name  = each.key
    image = "registry.example.com/${each.key}:1"

    port {
      name   = "main"
      number = 8080
    }
  }
}

resource "simcloud_service" "this" {
  for_each = var.services

  environment   = var.environment
  service       = each.key
  name          = each.key
  selector      = { app = simcloud_deployment.this[each.key].labels["app"] }
  allowed_cidrs = ["10.0.0.0/8"]
  ports         = [{ name = "main", port = 8080 }]
}

resource "simcloud_config" "settings" {
  for_each = var.services

  environment = var.environment
  service     = each.key
  name        = "settings"
  data        = { LOG_LEVEL = "info", PEERS = join(",", var.services) }
}

resource "simcloud_secret_claim" "token" {
  for_each = var.services

  environment = var.environment
  service     = each.key
  name        = "token"
  length      = 32
  usage       = ["login"]
}

resource "simcloud_scheduled_job" "nightly" {
  for_each = var.services

  environment = var.environment
  service     = each.key
  name        = "nightly"
  schedule    = "0 3 * * *"
  image       = "registry.example.com/${each.key}:1"
  retries     = 1
}

resource "simcloud_network_rule" "ingress" {
  for_each = var.services

  environment = var.environment
  service     = each.key
  name        = "ingress"
  direction   = "ingress"
  priority    = 1000
  ports       = [8080]

  peer {
    cidr = "10.0.0.0/8"
  }
}
