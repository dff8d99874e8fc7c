output "a" {
  value = "a${null}b"
}
