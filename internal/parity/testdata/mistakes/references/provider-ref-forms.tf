resource "terraform_data" "a_0" {
  provider = "foo"
}
resource "terraform_data" "b_0" {
  provider = foo.bar.baz
}
resource "terraform_data" "c_0" {
  provider = foo[0]
}
resource "terraform_data" "d_0" {
  provider = var.x
}
resource "terraform_data" "e_0" {
  provider = upper("x")
}
resource "terraform_data" "f_0" {
  provider = Foo_Bar
}
