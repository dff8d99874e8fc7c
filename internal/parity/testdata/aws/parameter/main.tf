resource "aws_ssm_parameter" "a" {
  name  = "/app/a"
  type  = "String"
  value = "one"
  tags  = { team = "a" }
}
resource "aws_ssm_parameter" "secret" {
  name             = "/app/secret"
  type             = "SecureString"
  value_wo         = "hush"
  value_wo_version = 1
}
output "version" {
  value = aws_ssm_parameter.a.version
}
