# A policy is imported by URL#ENVIRONMENT/NAME.
terraform import towline_break_glass_policy.network 's3://example-towline/main?region=eu-central-1#prod/network'
