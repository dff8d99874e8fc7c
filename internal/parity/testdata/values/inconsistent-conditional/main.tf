output "a" {
  value = true ? { a = 1 } : { b = [] }
}
