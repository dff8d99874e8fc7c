variable "name" {}
variable "timeout" {}
resource "aws_sqs_queue" "q" {
  name                       = "parity-${var.name}"
  visibility_timeout_seconds = var.timeout
}
resource "aws_sns_topic" "t" {
  name = "parity-${var.name}"
}
output "queue" {
  value = aws_sqs_queue.q.arn
}
