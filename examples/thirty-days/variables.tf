variable "environment" {
  description = "Environment of the simulated cloud."
  type        = string
}

variable "services" {
  description = "Services to keep."
  type        = set(string)
  default     = ["collector", "verifier", "billing", "workorder"]
}

variable "release" {
  description = "Label that changes with every commit."
  type        = string
  default     = "1"
}

variable "endpoint" {
  description = "URL of the cloud; only whoever writes to it knows it."
  type        = string
}

variable "token" {
  description = "Bearer token for the cloud."
  type        = string
  sensitive   = true
}

variable "actor" {
  description = "Who writes, for the cloud's event log."
  type        = string
}
