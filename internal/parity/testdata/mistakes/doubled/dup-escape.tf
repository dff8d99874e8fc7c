resource "terraform_data" "a_12" {
 _ {}
 _ {}
}
