resource "aws_sqs_queue" "q" {
  for_each = toset(["a", "b"])
  name     = "parity-moved-${each.key}"
}
moved {
  from = aws_sqs_queue.a
  to   = aws_sqs_queue.q["a"]
}
moved {
  from = aws_sqs_queue.b
  to   = aws_sqs_queue.q["b"]
}
