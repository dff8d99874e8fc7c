resource "terraform_data" "same" {}
resource "terraform_data" "updated" {
  input = 1
}
resource "terraform_data" "replaced" {
  triggers_replace = 1
}
resource "terraform_data" "made" {}
import {
  to = terraform_data.same
  id = "sa\"me"
}
import {
  to = terraform_data.updated
  id = "updated"
}
import {
  to = terraform_data.replaced
  id = "replaced"
}
