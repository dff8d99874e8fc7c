resource "terraform_data" "a" {
  input = "b"
  lifecycle {
    ignore_changes = [triggers_replace]
  }
}
locals {
  l = "over"
}
resource "terraform_data" "c" {
  count = 1
}
