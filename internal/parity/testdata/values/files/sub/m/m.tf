output "o" {
  value = [path.module, fileexists("${path.module}/m.tf")]
}
