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
  name    = "g"
  vpc_id  = aws_vpc.v.id
  ingress = []
  egress = [{
    from_port        = 0
    to_port          = 0
    protocol         = "-1"
    cidr_blocks      = ["0.0.0.0/0"]
    ipv6_cidr_blocks = []
    prefix_list_ids  = []
    security_groups  = []
    self             = false
    description      = ""
  }]
}
