resource "simcloud_network_rule" "r" {
  environment = "prod"
  service     = "shop"
  name        = "r"
  direction   = "ingress"
  priority    = 100
}
check "holds" {
  data "simcloud_object" "holds" {
    environment = "prod"
    service     = "shop"
    kind        = "network_rule"
    name        = "r"
  }
  assert {
    condition     = jsondecode(data.simcloud_object.holds.attributes_json).priority == 100
    error_message = "priority is ${jsondecode(data.simcloud_object.holds.attributes_json).priority}"
  }
}
check "waits" {
  data "simcloud_object" "waits" {
    environment = "prod"
    service     = "shop"
    kind        = "network_rule"
    name        = "r"
    depends_on  = [simcloud_network_rule.r]
  }
  assert {
    condition     = jsondecode(data.simcloud_object.waits.attributes_json).priority == 101
    error_message = "priority is ${jsondecode(data.simcloud_object.waits.attributes_json).priority}"
  }
}
