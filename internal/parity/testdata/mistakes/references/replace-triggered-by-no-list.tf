resource "terraform_data" "a_12" {
 lifecycle {
   replace_triggered_by = "x"
 }
}
