resource "aws_sqs_queue" "q" {
  name   = "q"
  tags   = { a = "", b = "x" }
  policy = ""
}
resource "aws_launch_template" "t" {
  name                 = "abc"
  description          = ""
  security_group_names = ["", "x"]
  tags                 = { c = "" }
  tag_specifications {
    resource_type = "instance"
    tags          = { a = "", b = "x" }
  }
  iam_instance_profile {
    name = ""
  }
}
resource "aws_s3_bucket_lifecycle_configuration" "l" {
  bucket = "x"
  rule {
    id     = "a"
    status = "Enabled"
    prefix = ""
    expiration { days = 3 }
  }
}
