output "file" {
  value = file("${path.module}/hello.txt")
}
output "there" {
  value = [fileexists("hello.txt"), fileexists("nope")]
}
output "set" {
  value = fileset(path.module, "sub/**")
}
output "tmpl" {
  value = templatefile("t.tftpl", { list = ["a", "b"], name = "n" })
}
output "hash" {
  value = filesha256("hello.txt")
}
output "b64" {
  value = filebase64("hello.txt")
}
output "root" {
  value = path.root
}
output "ws" {
  value = terraform.workspace
}
output "m" {
  value = module.m.o
}
module "m" {
  source = "./sub/m"
}
