resource "terraform_data" "a_2" {
 lifecycle {
   precondition {
     condition = self.id == "x"
     error_message = "x"
   }
   precondition {
     condition = terraform_data.a_2.id == "x"
     error_message = "x"
   }
   postcondition {
     condition = terraform_data.a_2.id == ""
     error_message = "x${terraform_data.a_2.id}"
   }
 }
}
