module "a_8" {
 source = "m"
 }
