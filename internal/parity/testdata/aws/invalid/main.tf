resource "aws_sqs_queue" "q" {
  name                       = "q"
  visibility_timeout_seconds = 999999
}
resource "aws_vpc" "v" {
  cidr_block = "nope"
}
