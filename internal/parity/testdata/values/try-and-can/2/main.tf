output "a" {
  value = try(local.undeclared, "d")
}
output "b" {
  value = can(terraform_data.undeclared.id)
}
