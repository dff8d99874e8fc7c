module "m" {
  source = "./m"
  no     = null
  yes    = null
}
output "m" {
  value = module.m
}
