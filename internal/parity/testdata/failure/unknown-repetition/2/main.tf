resource "terraform_data" "a" {
}
resource "terraform_data" "c" {
  for_each = toset([terraform_data.a.id])
}
resource "terraform_data" "free" {
}
