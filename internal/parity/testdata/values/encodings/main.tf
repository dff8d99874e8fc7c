output "json" {
  value = jsonencode({ z = "<>&", a = [1, null, true], "k k" = {} })
}
output "yaml" {
  value = yamlencode({ z = "<>&", a = [1, null, "yes", "1", "multi\nline"], "k k" = {}, n = 1.5 })
}
output "csv" {
  value = csvdecode("a,b\n1,2\n3,4")
}
output "b64" {
  value = base64encode("ä")
}
output "back" {
  value = base64decode("w6Q=")
}
output "url" {
  value = urlencode("a b/ä&")
}
output "yback" {
  value = yamldecode("a: [1, yes, ~, 0x10]\nb: {c: d}\n")
}
output "jback" {
  value = jsondecode("{\"a\":[1,null,1.50]}")
}
output "md5" {
  value = md5("x")
}
output "sha" {
  value = base64sha256("x")
}
output "textenc" {
  value = textencodebase64("ab", "UTF-16LE")
}
