resource "terraform_data" "a" {
  lifecycle {
    ignore_changes = ["input", "triggers_replace"]
  }
}
resource "terraform_data" "b" {
  depends_on = ["terraform_data.a"]
}
check "c" {
  assert {
    condition     = terraform_data.a.id == "x"
    error_message = "no"
  }
}
