output "a" {
  value = { for x in ["a", "a"] : x => 1 }
}
