resource "terraform_data" "a_1" {
  depends_on = terraform_data.b_1
}
resource "terraform_data" "b_1" {
  depends_on = [terraform_data, terraform_data.c, "terraform_data.c", terraform_data.c[0], terraform_data.c.id, var.x, local.x, module.x, path.module, each.key, self, upper("x"), 1, [1]]
}
