resource "terraform_data" "a" {
  input = 1
}
check "c" {
  assert {
    condition     = terraform_data.a.id != ""
    error_message = "it is ${terraform_data.a.input}"
  }
  assert {
    condition     = terraform_data.a.input != 7
    error_message = "no"
  }
}
