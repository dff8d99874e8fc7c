# Either of two people may stop corrections of the network for at most four hours.
resource "towline_break_glass_policy" "network" {
  repository  = "s3://example-towline/main?region=eu-central-1"
  environment = "prod"
  name        = "network"
  scopes      = ["network"]

  approvers = [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ana@example.com",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEbmJ9Yg3C0Dh9ZSpQy7cVSpU1cX1qkq8YxQO2u3v0aB ben@example.com",
  ]
  # Ana may also do so in Slack, where she is U012AB3CD.
  slack_users = {
    U012AB3CD = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ana@example.com"
  }
  approvals    = 1
  max_duration = "4h"
  after        = "propose"
}
