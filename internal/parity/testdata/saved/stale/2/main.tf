resource "terraform_data" "a" {
}
resource "terraform_data" "bad" {
  input = tonumber(terraform_data.a.id == "q" ? 1 : "x")
}
