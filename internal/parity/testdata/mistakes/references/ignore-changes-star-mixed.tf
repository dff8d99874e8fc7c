resource "terraform_data" "a_3" {
 lifecycle {
   ignore_changes = ["*", input]
 }
}
