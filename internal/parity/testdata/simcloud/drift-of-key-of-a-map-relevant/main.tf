resource "simcloud_deployment" "this" {
  environment = "prod"
  service     = "shop"
  name        = "web"
  labels      = { app = "web" }
  container {
    name  = "app"
    image = "app:1"
  }

}
resource "terraform_data" "user" {
  input = lookup(simcloud_deployment.this.labels, "by", simcloud_deployment.this.labels.app)
}
