terraform {
  required_providers {
    v5 = { source = "towline/v5" }
  }
}

provider "v5" {
  endpoint = "x"
}

variable "n" {
  default = 1
}

variable "many" {
  default = 2
}

resource "terraform_data" "a" {
  input = var.n
}

resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
}

resource "terraform_data" "many" {
  count = var.many
}

locals {
  through = terraform_data.b.id
}

data "v5_echo" "names_one_of_many" {
  text = terraform_data.many[0].id
}

data "v5_echo" "depends" {
  text       = "1"
  depends_on = [terraform_data.b]
}

data "v5_echo" "depends_on_many" {
  text       = "1"
  depends_on = [terraform_data.many]
}

data "v5_echo" "depends_on_local" {
  text       = "1"
  depends_on = [local.through]
}

data "v5_echo" "depends_on_data" {
  text       = "1"
  depends_on = [data.v5_echo.depends_on_local]
}

data "v5_echo" "depends_on_module" {
  text       = "1"
  depends_on = [module.given]
}

data "v5_echo" "names" {
  text = terraform_data.b.id
}

data "v5_echo" "names_known" {
  text = terraform_data.a.input
}

data "v5_echo" "names_local" {
  text = local.through
}

data "v5_echo" "names_module" {
  text = module.given.text
}

data "v5_echo" "repeated" {
  for_each = toset([terraform_data.a.input == 2 ? "a" : "b"])
  text     = each.key
}

data "v5_echo" "postcondition" {
  text = "1"
  lifecycle {
    postcondition {
      condition     = local.through != ""
      error_message = "No id."
    }
  }
}

data "v5_echo" "precondition" {
  text = "1"
  lifecycle {
    precondition {
      condition     = module.later.text != ""
      error_message = "No text."
    }
  }
}

module "waiting" {
  source     = "./m"
  depends_on = [terraform_data.b]
}

module "given" {
  source = "./m"
  text   = terraform_data.a.id
}

module "later" {
  source = "./m"
  text   = terraform_data.b.id
}
