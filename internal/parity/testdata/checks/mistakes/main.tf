resource "terraform_data" "a" {
  input = 1
}
check "c" {
  assert {
    condition     = terraform_data.a.input.x == 2
    error_message = "cannot be evaluated"
  }
}
