resource "simcloud_deployment" "this" {
  environment = "prod"
  service     = "shop"
  name        = "web"
  node_pool   = ""
  labels      = sensitive({ a = "" })
  container {
    name    = "app"
    image   = "app:1"
    command = [""]
  }
}
