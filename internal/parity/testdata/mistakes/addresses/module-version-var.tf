variable "v_6" {}
module "a_6" {
 source = "hashicorp/consul/aws"
 version = var.v_6
 }
