resource "terraform_data" "a_3" {
 lifecycle {
   precondition {
     condition = path.module != ""
     error_message = "A."
     foo = 1
   }
 }
}
