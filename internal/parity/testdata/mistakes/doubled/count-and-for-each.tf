resource "terraform_data" "a_13" {
 count = 1
 for_each = {}
}
