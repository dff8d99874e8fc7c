resource "terraform_data" "a" {
  provisioner "local-exec" {
    command     = "echo $X"
    environment = { X = "y" }
    interpreter = ["/bin/sh", "-c"]
    working_dir = "."
    quiet       = true
  }
}
