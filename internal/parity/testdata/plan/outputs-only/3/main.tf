output "b" {
  value = "x"
}