resource "terraform_data" "a_7" {
  provisioner "foo" {}
  provisioner "local-exec" {}
  provisioner "chef" {}
  provisioner "local-exec" {
    command = 1
    when = foo
    on_failure = "continue"
    lifecycle {}
    connection {}
    connection {}
    foo = 1
  }
  connection {}
  connection {}
}
