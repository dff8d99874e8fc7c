output "inf" {
  value = 1 / 0
}
