resource "simcloud_network_rule" "this" {
  environment = "prod"
  service     = "shop"
  name        = "n"
  direction   = "ingress"
  priority    = 100
  ports       = [443, 80]
  peer {
    cidr   = "10.0.0.0/8"
    except = ["10.1.0.0/16"]
  }
  peer {
    service = "pay"
  }
}
resource "simcloud_scheduled_job" "this" {
  environment = "prod"
  service     = "shop"
  name        = "j"
  schedule    = "0 3 * * *"
  image       = "r:1"
}
