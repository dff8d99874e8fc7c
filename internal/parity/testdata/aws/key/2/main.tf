resource "aws_kms_key" "k" {
  description             = "two"
  deletion_window_in_days = 7
  enable_key_rotation     = true
}
resource "aws_kms_alias" "a" {
  name          = "alias/parity"
  target_key_id = aws_kms_key.k.key_id
}
