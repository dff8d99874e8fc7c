resource "simcloud_service" "this" {
  environment = "prod"
  service     = "shop"
  name        = "s"
  selector    = { app = "web" }
  ports       = [{ name = "b", port = 1 }, { name = "metrics", port = 9091 }]
}
