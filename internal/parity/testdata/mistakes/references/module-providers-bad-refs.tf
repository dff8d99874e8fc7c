module "a_8" {
 source = "./m"
 providers = {
   time = time.a.b
   time.x.y = time
   "null" = "null.x"
   foo[0] = bar
   a = upper("x")
 }
 }
