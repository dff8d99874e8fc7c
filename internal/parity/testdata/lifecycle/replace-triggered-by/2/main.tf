variable "v" {}
resource "terraform_data" "src" {
  input = var.v
}
resource "terraform_data" "fresh" {}
resource "terraform_data" "whole" {
  lifecycle {
    replace_triggered_by = [terraform_data.src, terraform_data.fresh]
  }
}
