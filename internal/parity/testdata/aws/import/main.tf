resource "aws_ssm_parameter" "p" {
  for_each = { one = "1", two = "changed" }
  name     = "/parity/${each.key}"
  type     = "String"
  value    = each.value
}
import {
  for_each = toset(["one", "two"])
  to       = aws_ssm_parameter.p[each.key]
  id       = "/parity/${each.key}"
}
