output "a" {
  value = file("nope.txt")
}
output "b" {
  value = templatefile("t.tftpl", {})
}
