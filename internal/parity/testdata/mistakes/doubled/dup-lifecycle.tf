resource "terraform_data" "a_11" {
 lifecycle {}
 lifecycle {}
}
