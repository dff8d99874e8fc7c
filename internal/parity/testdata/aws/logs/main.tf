resource "aws_cloudwatch_log_group" "g" {
  count             = 3
  name              = "/parity/${count.index}"
  retention_in_days = 7
}
output "names" {
  value = aws_cloudwatch_log_group.g[*].name
}
