resource "terraform_data" "a" {
  input = 1
}
check "c" {
  assert {
    condition     = terraform_data.a.input == 1 ? null : true
    error_message = "null"
  }
}
