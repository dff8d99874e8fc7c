variable "environment" {
  description = "Environment of the namespaces."
  type        = string
  default     = "prod"
}

variable "registry" {
  description = "Where images come from."
  type        = string
  default     = "registry.example.com/payments"
}

variable "workloads" {
  description = "The services, and which others each calls."
  type = map(object({
    release  = string
    port     = number
    replicas = optional(number, 2)
    calls    = optional(set(string), [])
    settings = optional(map(string), {})
    secrets  = optional(set(string), [])
  }))

  validation {
    condition     = alltrue([for workload in values(var.workloads) : workload.replicas > 0])
    error_message = "Every workload has at least one replica."
  }
}

variable "partner_networks" {
  description = "Networks that reach the collector."
  type        = set(string)
  default     = ["198.51.100.0/24", "203.0.113.0/24"]
}

variable "monitoring_network" {
  description = "Network that metrics are read from."
  type        = string
  default     = "10.20.0.0/16"
}

variable "archive_shards" {
  description = "Number of shards of the archive."
  type        = number
  default     = 3
}
