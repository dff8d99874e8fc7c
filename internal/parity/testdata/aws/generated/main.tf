import {
  to = aws_s3_bucket.b
  id = "parity-generated"
}
