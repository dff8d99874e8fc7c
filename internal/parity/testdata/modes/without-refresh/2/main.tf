resource "terraform_data" "a" {
  input = 1
  lifecycle {
    create_before_destroy = true
  }
}
