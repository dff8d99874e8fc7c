resource "terraform_data" "base" {
  input = "base"
}
resource "terraform_data" "a" {
  input = terraform_data.base.input
  provisioner "local-exec" {
    when    = destroy
    command = "echo cannot; exit 6"
  }
}
resource "terraform_data" "other" {}
