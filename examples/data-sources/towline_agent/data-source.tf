# Is the agent live, and at which revision?
data "towline_agent" "one" {
  repository   = "s3://example-towline/main?region=eu-central-1"
  environment  = "prod"
  name         = "agent-1"
  trusted_root = file("root.json")
}

# A check warns in every plan and apply when the proof is old or drift stands.
check "agent_is_live" {
  assert {
    condition     = coalesce(data.towline_agent.one.proof_age_seconds, 86400) < 600
    error_message = "agent-1 has not reported for ten minutes, or never."
  }
}

output "revision" {
  value = data.towline_agent.one.live_revision
}
