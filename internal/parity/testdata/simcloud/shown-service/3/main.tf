resource "simcloud_service" "this" {
  environment   = "prod"
  service       = "shop"
  name          = "s"
  selector      = { app = "web" }
  ports         = [{ name = "metrics", port = 9091 }, { name = "b", port = 1 }]
  allowed_cidrs = []
}
