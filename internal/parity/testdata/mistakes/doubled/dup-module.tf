module "a_10" { source = "./m" }
module "a_10" { source = "./m" }
