output "nan" {
  value = 0 / 0
}
