resource "terraform_data" "a_4" {
 lifecycle {
   foo = 1
   bar {}
 }
}
