module "m" {
  source = "./m"
  nope   = 1
}
module "n" {
  source = "./m"
  v      = 1
  count  = 2
}
output "a" {
  value = module.m.nope
}
output "b" {
  value = module.n.o
}
