resource "terraform_data" "a" {
  input = var.v
  triggers_replace = var.v
  provisioner "local-exec" {
    command = "echo made ${self.input} >> log.txt"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${self.input} >> log.txt"
  }
}
variable "v" {}
