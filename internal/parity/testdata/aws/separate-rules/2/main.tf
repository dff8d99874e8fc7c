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
  name_prefix = "h-"
  vpc_id      = aws_vpc.v.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "aws_security_group_rule" "in" {
  type              = "ingress"
  from_port         = 1
  to_port           = 2
  protocol          = "tcp"
  cidr_blocks       = ["10.0.0.0/8"]
  security_group_id = aws_security_group.g.id
}
