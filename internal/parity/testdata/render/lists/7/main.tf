resource "terraform_data" "a" {
  input = [{ a = 1, id = "i" }, { a = 2 }, { a = 3 }]
}
