resource "terraform_data" "a" {
  input = "a"
  provisioner "local-exec" {
    command = "echo mended"
  }
}
resource "terraform_data" "needs" {
  input = terraform_data.a.input
}
resource "terraform_data" "sibling" {
  input = "s"
}
