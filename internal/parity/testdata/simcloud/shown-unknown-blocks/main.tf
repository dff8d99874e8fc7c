resource "terraform_data" "n" {
  input = ["app"]
}
resource "simcloud_deployment" "this" {
  environment = "prod"
  service     = "shop"
  name        = "web"
  dynamic "container" {
    for_each = terraform_data.n.output
    content {
      name  = container.value
      image = "x:1"
    }
  }
}
