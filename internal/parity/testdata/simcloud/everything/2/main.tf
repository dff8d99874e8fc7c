
resource "simcloud_deployment" "web" {
  environment  = "prod"
  service      = "shop"
  name         = "web"
  architecture = "arm64"
  strategy     = { type = "recreate" }
  dynamic "container" {
    for_each = ["a", "b"]
    content {
      name  = container.value
      image = "app:1"
    }
  }
}
resource "simcloud_network_rule" "r" {
  environment = "prod"
  service     = "shop"
  name        = "r"
  direction   = "ingress"
  priority    = 100
  peer {
    service = "pay"
  }
}
