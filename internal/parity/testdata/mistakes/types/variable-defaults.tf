variable "a_1" {
 type = string
 default = []
}
variable "b_1" {
 type = number
 default = "x"
}
variable "c_1" {
 default = var.a_1
}
variable "d_1" {
 default = foo()
}
variable "d2_1" {
 default = upper("a")
}
variable "e_1" {
 nullable = false
 default = null
}
variable "f_1" {
 type = object({a = string})
 default = {}
}
variable "g_1" {
 sensitive = "x"
 nullable = null
 ephemeral = 1
 description = 5
}
