resource "terraform_data" "trigger" {
  for_each = toset(["x"])
  input    = 1
}

resource "terraform_data" "triggered" {
  count = 1
  lifecycle {
    replace_triggered_by = [terraform_data.trigger]
  }
}
