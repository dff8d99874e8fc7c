resource "aws_sqs_queue" "q" {
  name = "parity-ignored"
  tags = { keep = "a", own = "b" }
  lifecycle {
    ignore_changes = [tags, tags_all]
  }
}
