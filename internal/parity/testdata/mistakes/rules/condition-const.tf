resource "terraform_data" "a_0" {
 lifecycle {
   precondition {
     condition = true
     error_message = "x"
   }
   postcondition {
     condition = 1 == 1
     error_message = "x"
   }
 }
}
output "o_0" {
 value = 1
   precondition {
     condition = true
     error_message = "x"
   }
}
