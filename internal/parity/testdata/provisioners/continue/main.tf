resource "terraform_data" "a" {
  provisioner "local-exec" {
    command    = "exit 4"
    on_failure = continue
  }
  provisioner "local-exec" {
    command = "echo after"
  }
  provisioner "local-exec" {
    when       = destroy
    command    = "exit 5"
    on_failure = continue
  }
}
