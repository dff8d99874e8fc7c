variable "v" {}
resource "terraform_data" "src" {
  input = var.v
}
resource "terraform_data" "many" {
  count = 2
  input = count.index == 1 ? var.v : "same"
}
resource "terraform_data" "whole" {
  lifecycle {
    replace_triggered_by = [terraform_data.src]
  }
}
resource "terraform_data" "attribute" {
  lifecycle {
    replace_triggered_by = [terraform_data.src.triggers_replace]
  }
}
resource "terraform_data" "each" {
  count = 2
  lifecycle {
    replace_triggered_by = [terraform_data.many[count.index].input]
  }
}
