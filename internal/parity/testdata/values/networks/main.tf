output "host" {
  value = cidrhost("10.12.112.0/20", 16)
}
output "mask" {
  value = cidrnetmask("172.16.0.0/12")
}
output "subnet" {
  value = cidrsubnet("172.16.0.0/12", 4, 2)
}
output "subnets" {
  value = cidrsubnets("10.1.0.0/16", 4, 4, 8, 4)
}
output "v6" {
  value = cidrsubnet("fd00:fd12:3456:7890::/56", 16, 162)
}
output "minus" {
  value = cidrhost("10.0.0.0/8", -1)
}
