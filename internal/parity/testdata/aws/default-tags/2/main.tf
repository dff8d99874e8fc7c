resource "terraform_data" "unknown" {}
resource "aws_sqs_queue" "q" {
  name = "parity-tags"
  tags = { env = "own", id = terraform_data.unknown.id }
}
resource "aws_sns_topic" "t" {
  name = "parity-tags"
}
