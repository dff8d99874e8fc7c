resource "aws_iam_role" "r" {
  name               = "parity-role"
  assume_role_policy = data.aws_iam_policy_document.assume.json
  description        = ""
}
data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}
resource "aws_iam_policy" "p" {
  name   = "parity-policy"
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = ["s3:Get*"], Resource = "*" }] })
}
resource "aws_iam_role_policy_attachment" "a" {
  role       = aws_iam_role.r.name
  policy_arn = aws_iam_policy.p.arn
}
