resource "aws_sqs_queue" "ok" {
  name = "parity-ok"
}
resource "aws_iam_role_policy_attachment" "a" {
  role       = "no-such-role"
  policy_arn = "arn:aws:iam::aws:policy/ReadOnlyAccess"
}
resource "aws_ssm_parameter" "after" {
  name  = "/parity/after"
  type  = "String"
  value = aws_iam_role_policy_attachment.a.id
}
