variable "a" {
  type    = number
  default = "x"
}
variable "b" {
  type = nope
}
variable "count" {}
variable "c" {
  type = object({ a = optional(string, []) })
}
variable "d" {
  nullable = "x"
}
variable "1x" {}
