resource "terraform_data" "a_1" {
  locals {}
}
