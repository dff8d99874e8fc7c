output "fingerprint" {
  description = "Names the repository; give it to whoever installs agents by hand."
  value       = towline_repository.this.fingerprint
}

output "trusted_root" {
  description = "What the agent believes without proof, for root.json in its folder."
  value       = towline_repository.this.trusted_root
}

output "agent_config" {
  description = "The agent's configuration, for agent.hcl in its folder."
  value       = replace(towline_agent.this.bootstrap.agent_config, "\"/etc/towline/", "\"${var.directory}/")
}
