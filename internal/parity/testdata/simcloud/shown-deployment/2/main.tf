resource "simcloud_deployment" "this" {
  environment = "prod"
  service     = "shop"
  name        = "web"
  replicas    = 3
  labels      = { app = "web2", more = "x" }
  container {
    name    = "app"
    image   = "app:2"
    cpu     = 1.5
    command = ["a", "b"]
  }
  strategy = { type = "recreate" }
}
