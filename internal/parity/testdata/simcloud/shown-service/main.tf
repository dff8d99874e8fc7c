resource "simcloud_service" "this" {
  environment   = "prod"
  service       = "shop"
  name          = "s"
  selector      = { app = "web" }
  ports         = [{ name = "http", port = 80, target_port = 8080 }, { name = "metrics", port = 9090 }]
  allowed_cidrs = ["10.0.0.0/8", "192.168.0.0/16"]
}
