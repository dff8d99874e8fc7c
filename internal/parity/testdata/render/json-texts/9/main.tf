resource "terraform_data" "a" {
  input = "{ broken"
}
