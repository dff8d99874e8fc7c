output "third" {
  value = 1 / 3
}
output "sum" {
  value = 0.1 + 0.2
}
output "big" {
  value = 12345678901234567890
}
output "minus" {
  value = -5 % 3
}
output "tail" {
  value = 1 - 0.9
}
output "power" {
  value = pow(2, 64)
}
output "hex" {
  value = parseint("ff", 16)
}
output "floor" {
  value = floor(-1.5)
}
output "ceil" {
  value = ceil(-1.5)
}
output "small" {
  value = 0.000000000000000001
}
output "expo" {
  value = 1e30
}
output "text" {
  value = "${1 / 3}"
}
output "back" {
  value = tonumber("0.30000000000000000001")
}
output "log" {
  value = log(8, 2)
}
output "signum" {
  value = signum(-3)
}
