resource "terraform_data" "a" {
  input = [var.nope, local.nope, terraform_data.nope.id, module.nope.o, data.x.y, each.key, count.index, self.id, path.nope, terraform.nope, terraform_data.b[0].id]
}
resource "terraform_data" "b" {}
output "o" {
  value = nope.x
}
