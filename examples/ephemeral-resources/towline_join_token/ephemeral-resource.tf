# The token goes from the provider into the parameter and is stored nowhere else.
# It is the same in every run, so that a run that failed half-way can be repeated.
ephemeral "towline_join_token" "one" {
  agent = "s3://example-towline/main?region=eu-central-1#prod/agent-1"
}

resource "aws_ssm_parameter" "join_token" {
  name             = "/towline/prod/agent-1/join-token"
  type             = "SecureString"
  value_wo         = ephemeral.towline_join_token.one.token
  value_wo_version = 1 # in a configuration of one piece: towline_agent.one.join_generation
}
