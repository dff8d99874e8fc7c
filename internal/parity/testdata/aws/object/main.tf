resource "aws_s3_bucket" "b" {
  bucket = "parity-objects"
}
resource "aws_s3_object" "o" {
  for_each = fileset(path.module, "files/*")
  bucket   = aws_s3_bucket.b.id
  key      = each.key
  source   = each.key
  etag     = filemd5(each.key)
}
output "etags" {
  value = { for k, o in aws_s3_object.o : k => o.etag }
}
