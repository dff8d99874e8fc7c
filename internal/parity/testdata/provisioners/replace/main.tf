resource "terraform_data" "plain" {
  triggers_replace = 1
  provisioner "local-exec" {
    command = "echo made ${self.triggers_replace}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${self.triggers_replace}"
  }
}
resource "terraform_data" "first" {
  triggers_replace = 1
  lifecycle {
    create_before_destroy = true
  }
  provisioner "local-exec" {
    command = "echo made ${self.triggers_replace}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${self.triggers_replace}; exit 1"
  }
}
