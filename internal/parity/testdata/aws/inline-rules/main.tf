resource "aws_vpc" "v" {
  cidr_block           = "10.0.0.0/16"
  enable_dns_hostnames = true
  tags                 = { Name = "v" }
}
resource "aws_subnet" "s" {
  for_each          = { a = 0, b = 1 }
  vpc_id            = aws_vpc.v.id
  cidr_block        = cidrsubnet(aws_vpc.v.cidr_block, 8, each.value)
  availability_zone = "us-east-1${each.key}"
}
resource "aws_security_group" "g" {
  name   = "g"
  vpc_id = aws_vpc.v.id
  ingress {
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"]
  }
  dynamic "ingress" {
    for_each = [80, 81]
    content {
      from_port   = ingress.value
      to_port     = ingress.value
      protocol    = "tcp"
      cidr_blocks = [aws_vpc.v.cidr_block]
      description = "port ${ingress.value}"
    }
  }
}
