resource "terraform_data" "a" {
  input = jsonencode([{ a = 1, k = "v" }, { a = 2 }])
}
