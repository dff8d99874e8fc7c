module "one" {
  source = "./m"
  v      = "one"
}
module "many" {
  source = "./m"
  count  = 2
  v      = module.one.o
}
module "each" {
  source   = "./m"
  for_each = { a = 1, "b c" = 2 }
  v        = each.value
}
output "many" {
  value = module.many[*].o
}
output "each" {
  value = { for k, m in module.each : k => m.o }
}
output "whole" {
  value = module.one
}
output "idx" {
  value = module.each["b c"].o
}
