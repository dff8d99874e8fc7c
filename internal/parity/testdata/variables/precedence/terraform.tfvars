text = "tfvars"
