resource "terraform_data" "first" {
  input = "one"
}
resource "terraform_data" "a" {
  count = 2
  input = "in${count.index}"
  provisioner "local-exec" {
    command = "echo ${self.input} ${terraform_data.first.input} $EXTRA >> log-${count.index}"
    environment = {
      EXTRA = "extra"
    }
  }
  provisioner "local-exec" {
    command     = "echo second >> log-${count.index}"
    interpreter = ["/bin/sh", "-e", "-c"]
    quiet       = true
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo never; exit 1"
  }
}
output "ids" {
  value = terraform_data.a[*].input
}
