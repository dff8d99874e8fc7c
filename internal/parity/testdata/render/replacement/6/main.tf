resource "terraform_data" "a" {
  input            = "x"
  triggers_replace = sensitive({ a = 2 })
  lifecycle {

  }
}
resource "terraform_data" "b" {
  input            = { l = [terraform_data.a.id, "k"], id = terraform_data.a.id, s = "pre-${terraform_data.a.id}" }
  triggers_replace = terraform_data.a.id
}
