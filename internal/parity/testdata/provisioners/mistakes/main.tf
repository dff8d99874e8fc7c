resource "terraform_data" "a" {
  input = 1
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${terraform_data.b.id}"
  }
  provisioner "nope" {}
  provisioner "local-exec" {
    when       = sometimes
    on_failure = maybe
  }
  provisioner "local-exec" {
    nope = 1
  }
}
resource "terraform_data" "b" {}
