data "terraform_remote_state" "a_6" {
 lifecycle {
   create_before_destroy = true
   prevent_destroy = true
   ignore_changes = all
   replace_triggered_by = []
 }
}
