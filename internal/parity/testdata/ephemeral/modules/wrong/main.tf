variable "token" {
  type      = string
  ephemeral = true
  default   = null
}

variable "name" {
  default = "plain"
}

module "inner" {
  source = "./inner"
  token  = var.token
}

output "both" {
  value = module.inner.both
}
