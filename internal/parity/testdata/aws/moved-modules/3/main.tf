resource "aws_ssm_parameter" "q" {
  for_each = { a = 0, b = 1, d = 3 }
  name     = "/mm/${each.value}"
  type     = "String"
  value    = "v${each.value}"
  tags     = { k = each.key }
}
moved {
  from = aws_ssm_parameter.p
  to   = aws_ssm_parameter.q
}
resource "aws_sqs_queue" "this" {
  for_each = toset(["q0", "q1"])
  name     = each.key
}
moved {
  from = module.queue["q0"].aws_sqs_queue.this
  to   = aws_sqs_queue.this["q0"]
}
moved {
  from = module.queue["q1"].aws_sqs_queue.this
  to   = aws_sqs_queue.this["q1"]
}
