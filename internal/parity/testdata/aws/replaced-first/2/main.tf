resource "aws_sqs_queue" "q" {
  name       = "parity-second.fifo"
  fifo_queue = true
  lifecycle {
    create_before_destroy = true
  }
}
resource "aws_ssm_parameter" "url" {
  name  = "/parity/url"
  type  = "String"
  value = aws_sqs_queue.q.url
}
