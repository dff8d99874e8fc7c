data "terraform_remote_state" "a_2" {
  locals {}
}
