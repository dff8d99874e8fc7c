output "more" {
  value = terraform_data.a.output.k
}
