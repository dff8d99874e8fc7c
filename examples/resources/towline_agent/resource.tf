# An agent on EC2. The join token travels through an SSM parameter whose value
# Terraform writes and never stores.
resource "towline_agent" "one" {
  repository  = "s3://example-towline/main?region=eu-central-1"
  environment = "prod"
  name        = "agent-1"
  channel     = "stable"
  scopes      = ["network"]
  labels      = { region = "eu-central-1" }

  # The API allows few requests: read a fifth of the objects a round, each at least hourly.
  refresh = {
    budget = 0.2
    within = "1h"
  }

  # One message for what differs or waits, whose buttons approvers of a scope may use.
  slack = {
    channel                 = "#infrastructure"
    bot_token_ssm_parameter = "/towline/slack-bot-token"
    app_token_ssm_parameter = "/towline/slack-app-token"
  }

  # A pipeline rings when it has published, and the cloud tells of changes by hand.
  signals = {
    keys  = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ci@example.com"]
    queue = "https://sqs.eu-central-1.amazonaws.com/111122223333/towline-agent-1"
  }

  join_token_source = {
    ssm_parameter = "/towline/prod/agent-1/join-token"
  }
}

# Put these into the user data and the role of the instance.
output "user_data" {
  value = towline_agent.one.bootstrap.cloud_init
}

output "policy" {
  value = towline_agent.one.bootstrap.iam_policy
}

# An agent on this very machine, for a first look.
resource "towline_agent" "here" {
  repository      = "s3://example-towline/main?region=eu-central-1"
  environment     = "dev"
  name            = "here"
  channel         = "edge"
  scopes          = ["everything"]
  join_token_file = "/tmp/towline-join-token"
  data_dir        = "/tmp/towline-data"

  join_token_source = {
    file = "/tmp/towline-join-token"
  }
}
