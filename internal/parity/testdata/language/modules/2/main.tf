module "one" {
  source = "./m"
  v      = "two"
}
module "many" {
  source = "./m"
  count  = 1
  v      = module.one.o
}
module "each" {
  source   = "./m"
  for_each = { a = 1, d = 2 }
  v        = each.value
}
output "many" {
  value = module.many[*].o
}
output "each" {
  value = { for k, m in module.each : k => m.o }
}
