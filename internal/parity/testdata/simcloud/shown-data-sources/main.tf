resource "simcloud_config" "this" {
  environment = "prod"
  service     = "shop"
  name        = "c"
  data        = { A = "1" }
}
data "simcloud_namespace" "all" {
  environment = "prod"
  service     = simcloud_config.this.service
  depends_on  = [simcloud_config.this]
}
output "n" {
  value = data.simcloud_namespace.all.objects[*].name
}
