resource "terraform_data" "a" {
  input = sensitive({ a = [1, 2], b = {} })
}