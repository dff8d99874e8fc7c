resource "simcloud_deployment" "this" {
  environment = "prod"
  service     = "shop"
  name        = "web"
  labels      = { app = "web" }
  container {
    name  = "app"
    image = "app:1"
  }

}
