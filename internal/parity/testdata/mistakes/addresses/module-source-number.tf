module "a_3" { source = 5 }
