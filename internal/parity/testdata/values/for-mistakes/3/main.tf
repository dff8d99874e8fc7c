output "a" {
  value = [for x in "abc" : x]
}
