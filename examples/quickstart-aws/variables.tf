variable "name" {
  description = "Name that everything begins with."
  type        = string
  default     = "payments"
}

variable "region" {
  description = "Region of everything."
  type        = string
  default     = "us-east-1"
}

variable "cidr" {
  description = "Addresses of the network."
  type        = string
  default     = "10.40.0.0/16"
}

variable "zones" {
  description = "Availability zones by letter, and which part of the network each gets."
  type        = map(number)
  default     = { a = 0, b = 1, c = 2 }
}

variable "security_groups" {
  description = "Security groups, and the ports that each opens inside the network."
  type = map(object({
    description = string
    ports       = set(number)
  }))
  default = {
    collector = { description = "Takes in events", ports = [8443] }
    verifier  = { description = "Checks events", ports = [9000, 9100] }
  }
}

variable "mock" {
  description = "Whether the provider talks to a mock of AWS."
  type        = bool
  default     = false
}
