check "c" {
  data "terraform_remote_state" "x" {
    backend = "local"
    config = {
      path = "none"
    }
  }
  assert {
    condition     = data.terraform_remote_state.x.backend == "local"
    error_message = "x"
  }
}
output "x" {
  value = data.terraform_remote_state.x.backend
}
