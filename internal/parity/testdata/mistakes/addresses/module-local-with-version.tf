module "a_4" {
 source = "./m"
 version = "1.0"
 }
