variable "token" {
  type      = string
  ephemeral = true
  default   = null
}

variable "name" {
  default = "plain"
}

locals {
  has_token = ephemeralasnull(var.token) != null
}

resource "terraform_data" "a" {
  input = { name = var.name, has = local.has_token }
}

output "name" {
  value = "${terraform_data.a.input.name} ${ephemeralasnull(var.token) == null}"
}
