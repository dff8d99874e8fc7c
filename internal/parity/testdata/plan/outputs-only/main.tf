output "a" {
  value = "x"
}