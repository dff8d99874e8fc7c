resource "terraform_data" "a" {
  input = terraform_data.a.id
}

resource "terraform_data" "many" {
  count = 2
  input = terraform_data.many[0].id
}

resource "terraform_data" "all" {
  count = 2
  input = terraform_data.all[*].id
}
