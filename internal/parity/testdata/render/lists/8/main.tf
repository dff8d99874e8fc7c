resource "terraform_data" "a" {
  input = [{ a = 1, id = "i" }, { a = 4, b = [1] }, { a = 3 }]
}
