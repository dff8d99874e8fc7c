resource "simcloud_deployment" "this" {
  environment  = "prod"
  service      = "shop"
  name         = "web"
  architecture = "arm64"
  container {
    name  = "app"
    image = "app:1"
    env   = { MODE = "fast", EMPTY = "" }
    port {
      name   = "http"
      number = 8080
    }
  }
  container {
    name    = "side"
    image   = "proxy:2"
    command = []
  }

}
