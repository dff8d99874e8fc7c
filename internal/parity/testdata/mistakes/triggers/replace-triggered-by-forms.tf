resource "terraform_data" "b_0" {}
resource "terraform_data" "a_0" {
 lifecycle {
   replace_triggered_by = [terraform_data.b_0, terraform_data.b_0[0], terraform_data.b_0[count.index], terraform_data.b_0[each.key], terraform_data.b_0[each.value], terraform_data.b_0[var.x], var.x, local.y, data.x.y, "x", foo(), terraform_data.b_0.id, terraform_data.b_0[*].id, self.id, module.x, path.module, each.key, count.index]
 }
}
