variable "v_1" {}
terraform { required_version = var.v_1 }
