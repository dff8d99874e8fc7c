resource "terraform_data" "named" {
  input = "name"
}

# The condition is known before its message is.
check "message" {
  assert {
    condition     = terraform_data.named.input == "other"
    error_message = "it is ${terraform_data.named.id}"
  }
}
