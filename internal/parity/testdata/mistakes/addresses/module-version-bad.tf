module "a_5" {
 source = "hashicorp/consul/aws"
 version = "foo"
 }
