check "c" {
  data "terraform_remote_state" "x" {
    backend  = "local"
    for_each = {}
    lifecycle {}
  }
  assert {
    condition     = data.terraform_remote_state.x.backend == "local"
    error_message = "x"
  }
}
