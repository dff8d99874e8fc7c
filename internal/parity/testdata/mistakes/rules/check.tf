check "a_5" {}
check "b_5" {
  data "x_y" "z" {}
  data "x_y" "w" {}
  assert {
  condition = var.x
  error_message = "x"
  }
  foo = 1
}
check "a b" {
  data "terraform_remote_state" "z_5" {
   count = 1
   depends_on = []
   lifecycle {}
   provider = x
  }
  assert {
  condition = true
  error_message = ""
  }
  assert {
  }
}
