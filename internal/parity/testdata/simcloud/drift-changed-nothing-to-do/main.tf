
resource "simcloud_deployment" "web" {
  environment = "prod"
  service     = "shop"
  name        = "web"
  labels      = { app = "web" }
  container {
    name  = "app"
    image = "app:1"
    env   = { MODE = "fast", EMPTY = "" }
    port {
      name   = "http"
      number = 8080
    }
  }
  container {
    name    = terraform_data.name.output
    image   = "proxy:2"
    command = []
  }
}
resource "terraform_data" "name" {
  input = "side"
}
resource "simcloud_secret_claim" "s" {
  environment = "prod"
  service     = "shop"
  name        = "s"
  usage       = ["read", "write"]
}
resource "simcloud_network_rule" "r" {
  environment = "prod"
  service     = "shop"
  name        = "r"
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
resource "simcloud_service" "svc" {
  environment   = "prod"
  service       = "shop"
  name          = "svc"
  selector      = simcloud_deployment.web.labels
  ports         = [{ name = "http", port = 80, target_port = 8080 }, { name = "metrics", port = 9090 }]
  allowed_cidrs = ["10.0.0.0/8"]
}
data "simcloud_namespace" "ns" {
  environment = "prod"
  service     = "shop"
  depends_on  = [simcloud_service.svc]
}
data "simcloud_namespace" "early" {
  environment = "dev"
  service     = "none"
}
output "token" {
  value     = simcloud_secret_claim.s.token
  sensitive = true
}
output "image" {
  value = simcloud_deployment.web.container[0].image
}
output "early" {
  value = data.simcloud_namespace.early.objects
}
