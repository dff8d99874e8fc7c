check "gone" {
  data "simcloud_object" "gone" {
    environment = "prod"
    service     = "shop"
    kind        = "network_rule"
    name        = "r"
  }
  assert {
    condition     = jsondecode(data.simcloud_object.gone.attributes_json).priority == 1
    error_message = "priority is ${jsondecode(data.simcloud_object.gone.attributes_json).priority}"
  }
}
resource "terraform_data" "x" {
  input = 1
}
