resource "terraform_data" "a" {
  nope  = 1
  id    = "x"
  block {}
}
