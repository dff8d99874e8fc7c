data "aws_caller_identity" "me" {}
resource "aws_sns_topic" "t" {
  name = "parity-forgotten"
}
import {
  to = aws_sns_topic.t
  id = "arn:aws:sns:us-east-1:${data.aws_caller_identity.me.account_id}:parity-forgotten"
}
