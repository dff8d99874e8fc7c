terraform {
  required_providers {
    time  = { source = "hashicorp/time" }
    other = { source = "towline/fault" }
  }
}

provider "time" {
  alias = "a"
}

module "repeated" {
  source = "./own"
  count  = 2
}

module "waiting" {
  source     = "./own"
  depends_on = [module.repeated]
}

module "overridden" {
  source = "./own"
  providers = {
    time = time.a
  }
}

module "undeclared" {
  source = "./plain"
  providers = {
    time    = time
    unknown = nowhere
  }
}

module "mismatch" {
  source = "./aliases"
  providers = {
    time.x = other
    time   = time.a
  }
}

module "missing" {
  source = "./aliases"
}

module "handing" {
  source = "./handing"
}
