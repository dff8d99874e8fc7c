# A policy is imported by URL#ENVIRONMENT/NAME.
terraform import towline_policy.deletions 's3://example-towline/main?region=eu-central-1#prod/deletions'
