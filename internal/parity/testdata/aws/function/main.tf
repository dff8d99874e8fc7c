variable "memory" { default = 128 }
variable "vars" { default = { A = "1" } }
resource "aws_iam_role" "r" {
  name               = "lambda"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = "lambda.amazonaws.com" }, Action = "sts:AssumeRole" }] })
}
resource "aws_s3_bucket" "b" { bucket = "parity-function" }
resource "aws_s3_object" "o" {
  bucket         = aws_s3_bucket.b.id
  key            = "f.zip"
  content_base64 = "UEsDBBQAAAAAAAAAIVCv4uDEGwAAABsAAAAIAAAAaW5kZXgucHlkZWYgaGFuZGxlcihlLGMpOiByZXR1cm4gMQpQSwECFAMUAAAAAAAAACFQr+LgxBsAAAAbAAAACAAAAAAAAAAAAAAAgAEAAAAAaW5kZXgucHlQSwUGAAAAAAEAAQA2AAAAQQAAAAAA"
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = aws_iam_role.r.arn
  s3_bucket     = aws_s3_object.o.bucket
  s3_key        = aws_s3_object.o.key
  handler       = "index.handler"
  runtime       = "python3.12"
  memory_size   = var.memory
  environment { variables = var.vars }
  dynamic "dead_letter_config" {
    for_each = var.memory > 128 ? [1] : []
    content { target_arn = aws_sqs_queue.q.arn }
  }
}
resource "aws_sqs_queue" "q" { name = "lq" }
resource "aws_lambda_permission" "p" {
  statement_id  = "a"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.f.function_name
  principal     = "sns.amazonaws.com"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
  batch_size       = 5
}
resource "aws_cloudwatch_log_group" "g" {
  name              = "/aws/lambda/${aws_lambda_function.f.function_name}"
  retention_in_days = 7
}
output "arn" { value = provider::aws::arn_parse(aws_lambda_function.f.arn) }
