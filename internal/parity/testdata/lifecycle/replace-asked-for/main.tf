resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
resource "terraform_data" "c" {
  depends_on = [terraform_data.b]
  lifecycle {
    create_before_destroy = true
  }
}
