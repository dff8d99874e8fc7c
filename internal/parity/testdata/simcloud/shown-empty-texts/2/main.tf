resource "simcloud_deployment" "this" {
  environment = "prod"
  service     = "shop"
  name        = "web"
  node_pool   = "p"
  labels      = { a = "x", b = "", c = "" }
  container {
    name    = "app"
    image   = "app:1"
    command = ["b", "", ""]
  }
}
