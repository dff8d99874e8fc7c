resource "terraform_data" "a" {
  input = "a"
  provisioner "local-exec" {
    command = "echo before"
  }
  provisioner "local-exec" {
    command = "echo broken >&2; exit 3"
  }
  provisioner "local-exec" {
    command = "echo never > never"
  }
}
resource "terraform_data" "needs" {
  input = terraform_data.a.id
}
resource "terraform_data" "sibling" {
  input = "s"
}
