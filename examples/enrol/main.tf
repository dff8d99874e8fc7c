# Enrols one environment: who may change what, and which agent keeps it so.
# Run once by whoever owns the environment; `terraform plan` is empty afterwards.

terraform {
  required_version = ">= 1.11"
  required_providers {
    towline = {
      source = "towline/towline"
    }
  }
}

# The signing key comes from TOWLINE_SIGNING_KEY_FILE and is never stored.
provider "towline" {}

resource "towline_repository" "this" {
  url           = var.repository
  environments  = { (var.environment) = {} }
  channels      = { (var.channel) = {} }
  force_destroy = var.force_destroy
}

# The agent may touch everything that the channel's revisions declare. It corrects
# what is changed by hand once it has stood for the grace time.
resource "towline_scope" "all" {
  repository  = towline_repository.this.url
  environment = var.environment
  name        = "all"
  include     = [{ address = "**" }]
  max_deletes = var.max_deletes

  drift = {
    mode  = "enforce"
    grace = var.grace
  }
}

# People on call may stop corrections for a while, and must say why.
resource "towline_break_glass_policy" "on_call" {
  repository     = towline_repository.this.url
  environment    = var.environment
  name           = "on-call"
  scopes         = [towline_scope.all.name]
  approvers      = var.approvers
  max_duration   = "4h"
  require_reason = true
  after          = "revert"
}

# This agent runs on the machine that runs Terraform, or gets the file carried to
# its own. See the resource's documentation for machines in a cloud.
resource "towline_agent" "this" {
  repository      = towline_repository.this.url
  environment     = var.environment
  name            = var.agent
  channel         = var.channel
  scopes          = [towline_scope.all.name]
  labels          = { enrolled-by = "terraform" }
  poll_interval   = var.poll_interval
  slack           = var.slack_webhook_file == null ? null : { webhook_file = var.slack_webhook_file }
  join_token_file = "${var.directory}/join-token"
  data_dir        = "${var.directory}/data"

  join_token_source = {
    file = "${var.directory}/join-token"
  }
}
