resource "simcloud_network_rule" "this" {
  environment = "prod"
  service     = "shop"
  name        = "n"
  direction   = "egress"
  priority    = 100

}
resource "simcloud_scheduled_job" "this" {
  environment = "prod"
  service     = "shop"
  name        = "j"
  schedule    = "0 3 * * *"
  image       = "r:1"
  history {
    successful = 2
    failed     = 1
  }
}
