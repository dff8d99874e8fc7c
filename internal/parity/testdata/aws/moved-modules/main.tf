resource "aws_ssm_parameter" "p" {
  count = 3
  name  = "/m/${count.index}"
  type  = "String"
  value = "v${count.index}"
}
module "q" {
  source = "./m"
  count  = 2
  name   = "q${count.index}"
}
