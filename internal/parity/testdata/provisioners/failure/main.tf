resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "exit 3"
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
resource "terraform_data" "on" {
  provisioner "local-exec" {
    command    = "exit 4"
    on_failure = continue
  }
}
