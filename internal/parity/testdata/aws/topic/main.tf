resource "aws_sns_topic" "t" {
  name = "parity-topic"
}
resource "aws_sqs_queue" "q" {
  name = "parity-sub"
}
resource "aws_sns_topic_subscription" "s" {
  topic_arn = aws_sns_topic.t.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.q.arn
}
