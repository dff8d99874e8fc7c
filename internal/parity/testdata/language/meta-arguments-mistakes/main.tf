resource "terraform_data" "a" {
  count    = 1
  for_each = {}
}
resource "terraform_data" "c" {
  lifecycle {
    create_before_destroy = "maybe"
    nope                  = 1
  }
}
resource "terraform_data" "d" {
  depends_on = [local.x]
}
locals {
  x = 1
}
