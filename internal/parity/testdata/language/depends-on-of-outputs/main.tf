resource "terraform_data" "a" {
}
output "o" {
  value       = "text"
  description = "says it"
  depends_on  = [terraform_data.a]
}
output "l" {
  value = [1, { k = "v" }]
}
output "s" {
  value     = "hush"
  sensitive = true
}
