module "service" {
  source   = "./service"
  for_each = { pay = 45, post = 60 }
  name     = each.key
  timeout  = each.value
}
output "queues" {
  value = { for k, s in module.service : k => s.queue }
}
