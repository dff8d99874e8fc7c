resource "terraform_data" "a_1" {
 lifecycle {
   precondition {
     error_message = "x"
   }
   postcondition {
     condition = self.id == ""
   }
 }
}
