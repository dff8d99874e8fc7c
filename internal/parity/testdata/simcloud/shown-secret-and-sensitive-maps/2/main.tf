resource "simcloud_secret_claim" "this" {
  environment = "prod"
  service     = "shop"
  name        = "s"
  keepers     = { a = "2" }
  usage       = ["read"]
  labels      = sensitive({ x = "y" })
}
output "t" {
  value     = simcloud_secret_claim.this.token
  sensitive = true
}
