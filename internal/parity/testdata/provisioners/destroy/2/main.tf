resource "terraform_data" "a" {
  count = 1
  input = "x"
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${self.input} ${count.index}"
  }
}
resource "terraform_data" "each" {
  for_each = {}
  input    = each.value
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${self.input} ${each.key}"
  }
}
