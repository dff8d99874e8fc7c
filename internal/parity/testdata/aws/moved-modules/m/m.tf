variable "name" {}
resource "aws_sqs_queue" "this" { name = var.name }
output "url" { value = aws_sqs_queue.this.url }
