variable "v" {}
resource "terraform_data" "whole" {
  input            = var.v
  triggers_replace = "t-${var.v}"
  lifecycle {
    ignore_changes = all
  }
}
resource "terraform_data" "one" {
  input            = var.v
  triggers_replace = "fixed"
  lifecycle {
    ignore_changes = [input]
  }
}
resource "terraform_data" "part" {
  input = { keep = var.v, follow = var.v }
  lifecycle {
    ignore_changes = [output]
  }
}
