output "a" {
  value = true ? [1] : { b = 2 }
}
