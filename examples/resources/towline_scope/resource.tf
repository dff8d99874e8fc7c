# Everything in the module network, and security groups anywhere.
resource "towline_scope" "network" {
  repository  = "s3://example-towline/main?region=eu-central-1"
  environment = "prod"
  name        = "network"

  include = [
    { address = "module.network.**" },
    { type = "aws_security_group*" },
  ]
  exclude = [
    { address = "module.network.aws_vpn_gateway.*" },
  ]

  # A plan that deletes or touches more than this is refused as a whole.
  actions     = ["create", "update"]
  max_changes = 20

  # Another team scales the fleet by hand.
  ignore_attributes = ["aws_autoscaling_group.desired_capacity"]

  drift = {
    mode  = "enforce"
    grace = "10m"
  }
}
