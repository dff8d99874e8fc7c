resource "aws_sqs_queue" "dead" {
  name = "parity-dead"
}
resource "aws_sqs_queue" "q" {
  name                       = "parity-q"
  visibility_timeout_seconds = 30
  redrive_policy             = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = 4 })
}
output "url" {
  value = aws_sqs_queue.q.url
}
