# An agent is imported by URL#ENVIRONMENT/NAME. Its join_token_version is then the
# number of its enrolment, so that importing it does not end the enrolment.
terraform import towline_agent.one 's3://example-towline/main?region=eu-central-1#prod/agent-1'
