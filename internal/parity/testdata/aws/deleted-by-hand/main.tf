resource "aws_vpc" "v" {
  cidr_block = "10.1.0.0/16"
}
resource "aws_subnet" "s" {
  vpc_id            = aws_vpc.v.id
  cidr_block        = "10.1.0.0/24"
  availability_zone = "us-east-1a"
}
resource "aws_ssm_parameter" "subnet" {
  name  = "/parity/subnet"
  type  = "String"
  value = aws_subnet.s.id
}
