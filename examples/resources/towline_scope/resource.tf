# Everything in the module network, and security groups anywhere.
resource "towline_scope" "network" {
  repository  = "s3://example-towline/main?region=eu-central-1"
  environment = "prod"
  name        = "network"

  # Another team owns one tag of everything here.
  include = [
    { module = "module.network", except = ["tags[\"owner\"]"] },
    { type = "aws_security_group*", provider = "hashicorp/aws" },
  ]
  exclude = [
    { address = "module.network.aws_vpn_gateway.*" },
  ]

  # A plan that deletes or touches more than this is refused as a whole.
  actions     = ["create", "update"]
  max_changes = 20

  # Another team scales the fleet by hand.
  ignore_attributes = ["aws_autoscaling_group.desired_capacity"]

  # Changes are made at night.
  windows = [{ from = "22:00", until = "04:00" }]

  drift = {
    mode  = "enforce"
    grace = "10m"

    # Descriptions are nobody's emergency.
    rules = [{ attributes = ["aws_security_group.description"], mode = "observe" }]
  }

  # Ana may also click in Slack, where she is U012AB3CD; Ben signs.
  approval = {
    approvers = [
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ana",
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBJ8UcCou9O2hTUUV53Yjxn7uF+YOcB277ynnp1UdWu5 ben",
    ]
    slack_users = {
      U012AB3CD = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ana"
    }
  }
}
