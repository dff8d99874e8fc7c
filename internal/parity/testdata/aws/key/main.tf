resource "aws_kms_key" "k" {
  description             = "one"
  deletion_window_in_days = 7
}
resource "aws_kms_alias" "a" {
  name          = "alias/parity"
  target_key_id = aws_kms_key.k.key_id
}
