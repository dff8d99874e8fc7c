resource "aws_s3_bucket" "b" {
  bucket        = "parity-bucket"
  force_destroy = true
  tags          = { team = "b", more = "x" }
}
resource "aws_s3_bucket_versioning" "b" {
  bucket = aws_s3_bucket.b.id
  versioning_configuration {
    status = "Enabled"
  }
}
resource "aws_s3_bucket_public_access_block" "b" {
  bucket            = aws_s3_bucket.b.id
  block_public_acls = true
}
