resource "aws_ssm_parameter" "a" {
  name  = "/app/a"
  type  = "String"
  value = "two"
  tags  = { team = "a" }
}
resource "aws_ssm_parameter" "secret" {
  name             = "/app/secret"
  type             = "SecureString"
  value_wo         = "hush hush"
  value_wo_version = 2
}
output "version" {
  value = aws_ssm_parameter.a.version
}
