resource "simcloud_service" "this" {
  environment   = "prod"
  service       = "shop"
  name          = "s"
  selector      = { app = "web" }
  type          = "public"
  ports         = [{ name = "metrics", port = 9090 }]
  allowed_cidrs = ["10.0.0.0/8"]
}
