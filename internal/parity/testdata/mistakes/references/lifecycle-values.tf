resource "terraform_data" "a_5" {
 lifecycle {
   create_before_destroy = var.x
   prevent_destroy = "x"
   ignore_changes = "foo"
 }
}
