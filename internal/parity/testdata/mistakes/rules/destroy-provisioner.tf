resource "terraform_data" "a_6" {
  connection {
    host = var.x
  }
  provisioner "remote-exec" {
    when = destroy
    inline = [local.x]
  }
  provisioner "local-exec" {
    when = destroy
    command = "${self.id}${each.key}${count.index}${each.value}${path.module}"
  }
}
