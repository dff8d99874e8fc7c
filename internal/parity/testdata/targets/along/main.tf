resource "terraform_data" "several" {
  count = 2
  input = count.index
}

resource "terraform_data" "one" {
  input = terraform_data.several[0].id
}
