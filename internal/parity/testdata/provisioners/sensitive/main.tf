variable "secret" {
  sensitive = true
}
variable "fleeting" {
  ephemeral = true
}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "echo $SECRET"
    environment = {
      SECRET = var.secret
    }
  }
  provisioner "local-exec" {
    command = "echo ${var.fleeting}"
  }
}
