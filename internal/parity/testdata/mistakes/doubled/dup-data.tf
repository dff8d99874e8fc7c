data "terraform_remote_state" "a_1" {}
data "terraform_remote_state" "a_1" {}
