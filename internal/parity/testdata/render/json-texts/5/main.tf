resource "terraform_data" "a" {
  input = jsonencode([{ a = 1, k = "w" }, { a = 2 }, 7])
}
