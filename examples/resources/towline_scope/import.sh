# A scope is imported by URL#ENVIRONMENT/NAME.
terraform import towline_scope.network 's3://example-towline/main?region=eu-central-1#prod/network'
