resource "aws_ssm_parameter" "a" {
  name  = "/app/a"
  type  = "String"
  value = "one"
}

ephemeral "aws_ssm_parameter" "a" {
  arn = aws_ssm_parameter.a.arn
}

resource "aws_ssm_parameter" "copy" {
  name             = "/app/copy"
  type             = "SecureString"
  value_wo         = ephemeral.aws_ssm_parameter.a.value
  value_wo_version = 1
}

output "service" {
  value = provider::aws::arn_parse(aws_ssm_parameter.a.arn).service
}
