resource "terraform_data" "a" {
  count = 2
  input = "x"
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${self.input} ${count.index}"
  }
}
resource "terraform_data" "each" {
  for_each = { k = "v" }
  input    = each.value
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${self.input} ${each.key}"
  }
}
resource "terraform_data" "block_gone" {
  provisioner "local-exec" {
    when    = destroy
    command = "exit 1"
  }
}
