resource "terraform_data" "a" {
}
resource "terraform_data" "c" {
  count = length(terraform_data.a.id)
}
resource "terraform_data" "free" {
}
