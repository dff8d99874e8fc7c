resource "aws_sqs_queue" "a" {
  name = "parity-moved-a"
}
resource "aws_sqs_queue" "b" {
  name = "parity-moved-b"
}
