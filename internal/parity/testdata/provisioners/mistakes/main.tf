resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "echo ${terraform_data.b.id}"
    when    = destroy
  }
  provisioner "local-exec" {
    command = "x"
    when    = sometimes
  }
  provisioner "local-exec" {
    command    = "x"
    on_failure = shrug
  }
  connection {
    host = var.nope
  }
}
resource "terraform_data" "b" {
  provisioner "local-exec" {
    command = "x"
    connection {}
    connection {}
  }
  connection {}
  connection {}
}
