resource "simcloud_deployment" "this" {
  environment = "prod"
  service     = "shop"
  name        = "web"
  node_pool   = "p"
  labels      = {}
  container {
    name    = "app"
    image   = "app:2"
    cpu     = 1.5
    command = ["b", "c", "d"]
    port {
      name   = "http"
      number = 80
    }
  }
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
