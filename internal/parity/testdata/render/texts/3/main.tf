resource "terraform_data" "a" {
  input = "line 1\nline 2\n"
}
