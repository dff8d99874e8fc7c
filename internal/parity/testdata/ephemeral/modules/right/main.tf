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

resource "terraform_data" "a" {
  input = ephemeralasnull(module.inner.both)
}
