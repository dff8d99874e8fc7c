# Three services in one environment of a simulated cloud: 30 objects.

terraform {
  required_providers {
    simcloud = {
      source  = "towline/simcloud"
      version = "~> 0.1"
    }
  }
}

# Endpoint and token come from SIMCLOUD_ENDPOINT and SIMCLOUD_TOKEN, which only the
# agent's machine has.
provider "simcloud" {}

locals {
  images = { for name, workload in var.workloads : name => "${var.registry}/${name}:${workload.release}" }
  labels = { team = "payments", environment = var.environment }

  # Who calls whom decides what the network lets through.
  calls = merge([
    for from, workload in var.workloads : {
      for to in workload.calls : "${from}-to-${to}" => { from = from, to = to }
    }
  ]...)
}

module "workload" {
  source   = "./modules/workload"
  for_each = var.workloads

  environment = var.environment
  name        = each.key
  image       = local.images[each.key]
  replicas    = each.value.replicas
  port        = each.value.port
  settings    = each.value.settings
  secrets     = each.value.secrets
  labels      = merge(local.labels, { app = each.key })
}

# Nothing talks to anything unless a later rule lets it.
resource "simcloud_network_rule" "deny" {
  for_each = var.workloads

  environment = var.environment
  service     = each.key
  name        = "deny-all"
  direction   = "ingress"
  action      = "deny"
  priority    = 60000
}

resource "simcloud_network_rule" "call" {
  for_each = local.calls

  environment = var.environment
  service     = each.value.to
  name        = each.key
  direction   = "ingress"
  priority    = 1000
  ports       = [module.workload[each.value.to].port]
  labels      = local.labels

  peer {
    service = each.value.from
  }
}

# Monitoring reads metrics everywhere.
resource "simcloud_network_rule" "metrics" {
  for_each = var.workloads

  environment = var.environment
  service     = each.key
  name        = "metrics"
  direction   = "ingress"
  priority    = 2000
  ports       = [9100]

  peer {
    cidr = var.monitoring_network
  }
}

# Partners reach the collector from networks that are known.
resource "simcloud_network_rule" "partners" {
  environment = var.environment
  service     = "collector"
  name        = "partners"
  direction   = "ingress"
  priority    = 500
  ports       = [module.workload["collector"].port]

  dynamic "peer" {
    for_each = var.partner_networks
    content {
      cidr = peer.value
    }
  }
}

# Each shard of the archive is compacted in an hour of its own.
resource "simcloud_scheduled_job" "compact" {
  count = var.archive_shards

  environment = var.environment
  service     = "billing"
  name        = "compact-${count.index}"
  schedule    = "15 ${2 + count.index} * * *"
  image       = local.images["billing"]
  command     = ["compact", "--shard", tostring(count.index), "--of", tostring(var.archive_shards)]
  concurrency = "forbid"
  labels      = local.labels

  history {
    successful = 3
    failed     = 5
  }
}

resource "simcloud_scheduled_job" "invoices" {
  environment = var.environment
  service     = "billing"
  name        = "invoices"
  schedule    = "0 5 1 * *"
  image       = local.images["billing"]
  command     = ["invoice", "--collector", module.workload["collector"].endpoint]
  retries     = 3

  depends_on = [simcloud_scheduled_job.compact]
}

resource "simcloud_scheduled_job" "probe" {
  environment = var.environment
  service     = "verifier"
  name        = "probe"
  schedule    = "*/5 * * * *"
  image       = local.images["verifier"]
  command     = ["probe", module.workload["billing"].endpoint]
  labels      = local.labels
}

# What every service may read about the others.
resource "simcloud_config" "directory" {
  environment = var.environment
  service     = "collector"
  name        = "directory"
  format      = "json"
  data        = { for name, workload in module.workload : name => workload.endpoint }
  labels      = local.labels
}
