resource "terraform_data" "a" {
  input = "quo\"te \\ ${"$"}{x} tab\t ü \u00a0"
}
