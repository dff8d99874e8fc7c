removed {
  from = terraform_data.a
  provisioner "local-exec" {
    when    = destroy
    command = "echo removed ${self.input} ${count.index}"
  }
}
