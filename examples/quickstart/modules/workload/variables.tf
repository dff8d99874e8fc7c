variable "environment" {
  description = "Environment of the namespace."
  type        = string
}

variable "name" {
  description = "Name of the service."
  type        = string
}

variable "image" {
  description = "Image reference."
  type        = string
}

variable "replicas" {
  description = "Number of replicas."
  type        = number
}

variable "port" {
  description = "Port that the service listens on."
  type        = number
}

variable "settings" {
  description = "Environment variables that are not secret."
  type        = map(string)
}

variable "secrets" {
  description = "Names of secrets that the cloud makes."
  type        = set(string)
}

variable "labels" {
  description = "Labels of all objects."
  type        = map(string)
}
