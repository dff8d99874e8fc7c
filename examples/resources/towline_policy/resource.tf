# Plans of production are asked about every deletion. Until the end of January a denial only warns.
resource "towline_policy" "deletions" {
  repository  = "s3://example-towline/main?region=eu-central-1"
  environment = "prod"
  name        = "deletions"

  modules = {
    "deletions.rego" = <<-EOT
      package main

      import rego.v1

      deny contains msg if {
        some change in input.resource_changes
        "delete" in change.change.actions
        change.type == "aws_db_instance"
        msg := sprintf("%s must not be deleted", [change.address])
      }
    EOT
  }
  warn_until = "2030-01-31T00:00:00Z"
}
