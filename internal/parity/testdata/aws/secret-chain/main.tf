variable "pw" {
  default   = "hunter2"
  sensitive = true
}
variable "v" { default = 1 }
resource "aws_kms_key" "k" {
  description = "v${var.v}"
  policy      = jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "a", Effect = "Allow", Principal = { AWS = "*" }, Action = "kms:*", Resource = "*" }] })
}
resource "aws_secretsmanager_secret" "s" {
  name       = "x/secret"
  kms_key_id = aws_kms_key.k.arn
}
resource "aws_secretsmanager_secret_version" "v" {
  secret_id     = aws_secretsmanager_secret.s.id
  secret_string = jsonencode({ user = "u", pass = var.pw })
}
data "aws_secretsmanager_secret_version" "d" {
  secret_id  = aws_secretsmanager_secret.s.id
  depends_on = [aws_secretsmanager_secret_version.v]
}
resource "aws_ssm_parameter" "p" {
  name   = "/x/p"
  type   = "SecureString"
  key_id = aws_kms_key.k.key_id
  value  = jsondecode(data.aws_secretsmanager_secret_version.d.secret_string).pass
  tags   = { len = nonsensitive(length(var.pw)) }
}
ephemeral "aws_secretsmanager_secret_version" "e" {
  secret_id = aws_secretsmanager_secret_version.v.secret_id
}
resource "aws_ssm_parameter" "wo" {
  name             = "/x/wo"
  type             = "SecureString"
  value_wo         = jsondecode(ephemeral.aws_secretsmanager_secret_version.e.secret_string).pass
  value_wo_version = var.v
}
output "pw" {
  value     = data.aws_secretsmanager_secret_version.d.secret_string
  sensitive = true
}
