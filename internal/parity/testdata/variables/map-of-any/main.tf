variable "m" {
  type    = map(any)
  default = { a = 1, b = "x" }
}
variable "l" {
  type    = list(any)
  default = [1, "x"]
}
variable "s" {
  type    = set(object({ a = optional(string, "d"), b = optional(number) }))
  default = [{}, { a = "d" }, { a = "e", b = "2" }]
}
variable "t" {
  type    = tuple([string, number])
  default = [1, "2"]
}
output "m" {
  value = var.m
}
output "l" {
  value = var.l
}
output "s" {
  value = var.s
}
output "t" {
  value = var.t
}
