resource "terraform_data" "trigger" {
  for_each = toset(["x"])
  input    = 2
}

resource "terraform_data" "triggered" {
  count = 2
  lifecycle {
    replace_triggered_by = [terraform_data.trigger]
  }
}
