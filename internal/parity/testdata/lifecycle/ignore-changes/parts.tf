variable "number" {
  type    = number
  default = 1
}

resource "terraform_data" "key_of_object" {
  input = { a = var.number, b = var.number }
  lifecycle { ignore_changes = [input["a"]] }
}

resource "terraform_data" "attribute_of_object" {
  input = { a = var.number, b = var.number }
  lifecycle { ignore_changes = [input.a] }
}

resource "terraform_data" "key_of_map" {
  input = tomap({ a = var.number, b = var.number })
  lifecycle { ignore_changes = [input["a"]] }
}

resource "terraform_data" "key_in_object" {
  input = { a = { c = var.number }, b = 1 }
  lifecycle { ignore_changes = [input["a"]["c"]] }
}

resource "terraform_data" "key_of_nothing" {
  input = { a = var.number, b = 1 }
  lifecycle { ignore_changes = [input["nope"]] }
}

resource "terraform_data" "index" {
  input = [var.number, "follows ${var.number}"]
  lifecycle { ignore_changes = [input[0]] }
}
