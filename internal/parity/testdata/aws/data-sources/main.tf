data "aws_caller_identity" "me" {}
data "aws_region" "here" {}
data "aws_partition" "p" {}
data "aws_iam_policy_document" "d" {
  statement {
    sid       = "one"
    actions   = ["s3:*"]
    resources = ["arn:${data.aws_partition.p.partition}:s3:::${data.aws_caller_identity.me.account_id}/*"]
    condition {
      test     = "StringEquals"
      variable = "aws:RequestedRegion"
      values   = [data.aws_region.here.name]
    }
  }
}
resource "aws_ssm_parameter" "p" {
  name  = "/parity/p"
  type  = "StringList"
  value = "a,b"
}
data "aws_ssm_parameter" "p" {
  name       = "/parity/p"
  depends_on = [aws_ssm_parameter.p]
}
output "json" {
  value = data.aws_iam_policy_document.d.json
}
output "list" {
  value = split(",", nonsensitive(data.aws_ssm_parameter.p.value))
}
