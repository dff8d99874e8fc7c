provider "aws" {
  alias                       = "west"
  region                      = "us-west-2"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
}
resource "aws_sqs_queue" "east" {
  name = "parity-region"
}
resource "aws_sqs_queue" "west" {
  provider = aws.west
  name     = "parity-region"
}
output "arns" {
  value = [aws_sqs_queue.east.arn, aws_sqs_queue.west.arn]
}
