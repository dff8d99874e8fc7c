module "a_9" {}
