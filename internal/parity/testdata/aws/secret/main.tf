resource "aws_secretsmanager_secret" "s" {
  name                    = "parity-secret"
  recovery_window_in_days = 0
}
resource "aws_secretsmanager_secret_version" "v" {
  secret_id                = aws_secretsmanager_secret.s.id
  secret_string_wo         = "hush"
  secret_string_wo_version = 1
}
