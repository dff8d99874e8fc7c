resource "terraform_data" "a_2" {
 lifecycle {
   ignore_changes = [input, input["a"], input[0], input.*.x, input[count.index], foo(), 1 + 1, "input", "*", all]
 }
}
