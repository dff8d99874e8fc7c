variable "s" {
  default   = "hush"
  sensitive = true
}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.s == "x"
      error_message = "it is ${var.s}"
    }
  }
}
