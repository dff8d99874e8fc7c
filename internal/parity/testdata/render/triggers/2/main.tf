resource "terraform_data" "a" {
  input = "y"
}
resource "terraform_data" "c" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.input]
  }
}
