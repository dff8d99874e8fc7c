output "endpoint" {
  description = "Address and port for clients."
  value       = simcloud_service.this.endpoint
}

output "port" {
  description = "Port that the service listens on."
  value       = var.port
}
