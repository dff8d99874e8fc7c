resource "simcloud_network_rule" "this" {
  environment = "prod"
  service     = "shop"
  name        = "n"
  direction   = "ingress"
  priority    = 100
  ports       = [443, 81]
  peer {
    cidr   = "10.0.0.0/8"
    except = ["10.2.0.0/16"]
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
  history {
    successful = 3
    failed     = 1
  }
}
