resource "simcloud_config" "this" {
  environment = "prod"
  service     = "shop"
  name        = "c"
  data        = { A = "2" }
}
data "simcloud_namespace" "all" {
  environment = "prod"
  service     = simcloud_config.this.checksum == "" ? "a" : "shop"
}
