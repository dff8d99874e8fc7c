module "a b" { source = "./m" }
