resource "simcloud_secret_claim" "this" {
  environment = "prod"
  service     = "shop"
  name        = "s"
  keepers     = { a = "1" }
  usage       = ["read", "write"]
}
output "t" {
  value     = simcloud_secret_claim.this.token
  sensitive = true
}
