resource "aws_s3_bucket" "b" {
  bucket        = "parity-bucket"
  force_destroy = true
  tags          = { team = "a" }
}
resource "aws_s3_bucket_versioning" "b" {
  bucket = aws_s3_bucket.b.id
  versioning_configuration {
    status = "Enabled"
  }
}
resource "aws_s3_bucket_policy" "b" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "a", Effect = "Deny", Principal = "*", Action = "s3:DeleteBucket", Resource = aws_s3_bucket.b.arn }] })
}
