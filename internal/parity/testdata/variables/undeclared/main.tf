variable "text" {
  type    = string
  default = "d"
}
variable "number" {
  type    = number
  default = 1
}
variable "list" {
  type    = list(string)
  default = ["d"]
}
variable "any" {
  default = "d"
}
variable "object" {
  type = object({
    a = string
    b = optional(number, 5)
    c = optional(object({
      d = optional(string, "deep")
      e = optional(bool)
    }), {})
    f = optional(list(string))
  })
  default = { a = "x" }
}
output "text" {
  value = var.text
}
output "number" {
  value = var.number
}
output "list" {
  value = var.list
}
output "any" {
  value = var.any
}
output "object" {
  value = var.object
}
