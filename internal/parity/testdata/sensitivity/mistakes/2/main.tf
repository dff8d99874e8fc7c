variable "s" {
  default   = "hush"
  sensitive = true
}
resource "terraform_data" "a" {
  for_each = toset([var.s])
}
