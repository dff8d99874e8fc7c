resource "terraform_data" "a" {
  provisioner "remote-exec" {
    inline = ["true"]
    connection {
      user = "x"
      hots = "h"
    }
  }
}
