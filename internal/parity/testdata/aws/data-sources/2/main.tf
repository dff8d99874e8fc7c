data "aws_ssm_parameter" "p" {
  name = "/parity/nope"
}
