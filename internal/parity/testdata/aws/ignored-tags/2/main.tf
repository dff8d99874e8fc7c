resource "aws_sqs_queue" "q" {
  name = "parity-ignored"
  tags = { keep = "a", own = "c" }
  lifecycle {
    ignore_changes = [tags["keep"]]
  }
}
