resource "simcloud_network_rule" "this" {
  environment = "prod"
  service     = "shop"
  name        = "n"
  direction   = "egress"
  priority    = 100
  peer {
    service = sensitive("pay")
  }
}
resource "simcloud_scheduled_job" "this" {
  environment = "prod"
  service     = "shop"
  name        = "j"
  schedule    = "0 3 * * *"
  image       = "r:1"

}
