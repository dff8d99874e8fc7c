removed {}
removed {
  from = a.b[0]
}
removed {
  from = data.a.b
}
removed {
  from = module.a[0]
}
removed {
  from = a.b
  lifecycle {
    destroy = "x"
    foo = 1
  }
  lifecycle {}
}
removed {
  from = terraform_data.b_1
  lifecycle {
    destroy = false
  }
}
resource "terraform_data" "b_1" {}
