module "a_11" {
 source = "./m"
 count = 1
 for_each = {}
 }
