output "endpoints" {
  description = "Where each service is reached inside the environment."
  value       = { for name, workload in module.workload : name => workload.endpoint }
}
