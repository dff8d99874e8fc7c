module "a_9" {
 source = "./m"
 providers = {
   time = time
   time = time
 }
 }
