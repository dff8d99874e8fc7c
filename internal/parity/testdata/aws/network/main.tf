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
resource "aws_internet_gateway" "g" {
  vpc_id = aws_vpc.v.id
}
resource "aws_route_table" "t" {
  vpc_id = aws_vpc.v.id
}
resource "aws_route" "r" {
  route_table_id         = aws_route_table.t.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.g.id
}
resource "aws_route_table_association" "a" {
  for_each       = aws_subnet.s
  subnet_id      = each.value.id
  route_table_id = aws_route_table.t.id
}
