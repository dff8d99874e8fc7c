# A repository is imported by its URL.
terraform import towline_repository.main 's3://example-towline/main?region=eu-central-1'
