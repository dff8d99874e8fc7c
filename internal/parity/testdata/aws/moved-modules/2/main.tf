resource "aws_ssm_parameter" "p" {
  for_each = { a = 0, b = 1, d = 3 }
  name     = "/m/${each.value}"
  type     = "String"
  value    = "v${each.value}"
  tags     = { k = each.key }
}
moved {
  from = aws_ssm_parameter.p[0]
  to   = aws_ssm_parameter.p["a"]
}
moved {
  from = aws_ssm_parameter.p[1]
  to   = aws_ssm_parameter.p["b"]
}
module "queue" {
  source   = "./m"
  for_each = toset(["q0", "q1"])
  name     = each.key
}
moved {
  from = module.q[0]
  to   = module.queue["q0"]
}
moved {
  from = module.q[1]
  to   = module.queue["q1"]
}
output "urls" { value = { for k, m in module.queue : k => m.url } }
