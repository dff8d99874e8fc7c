module "a_2" { source = "" }
