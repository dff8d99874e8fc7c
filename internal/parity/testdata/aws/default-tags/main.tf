resource "aws_sqs_queue" "q" {
  name = "parity-tags"
  tags = { env = "own" }
}
resource "aws_sns_topic" "t" {
  name = "parity-tags"
}
