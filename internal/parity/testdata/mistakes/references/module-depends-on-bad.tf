module "a_10" {
 source = "./m"
 depends_on = ["x", foo(), 1, a]
 }
