resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = terraform.applying || !terraform.applying
      error_message = "neither"
    }
  }
}
