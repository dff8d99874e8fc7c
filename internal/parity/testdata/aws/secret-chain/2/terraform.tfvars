v  = 2
pw = "longer-one"
