output "a" {
  value = { for x in [null] : x => 1 }
}
