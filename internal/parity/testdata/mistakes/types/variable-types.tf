variable "a1_0" { type = "string" }
variable "a2_0" { type = "list" }
variable "a3_0" { type = "map" }
variable "a4_0" { type = list }
variable "a5_0" { type = map }
variable "a6_0" { type = set }
variable "a7_0" { type = object }
variable "a8_0" { type = tuple }
variable "a9_0" { type = list(foo) }
variable "b1_0" { type = list(string, number) }
variable "b2_0" { type = object({a = optional(string, 5), b = optional(list(string), "x")}) }
variable "b3_0" { type = object({a = optional()}) }
variable "b4_0" { type = optional(string) }
variable "b5_0" { type = foo }
variable "b6_0" { type = string(x) }
variable "b7_0" { type = any }
variable "b8_0" { type = null }
variable "b9_0" { type = 5 }
variable "c1_0" { type = tuple([string, foo]) }
variable "c2_0" { type = object([]) }
variable "c3_0" { type = object({a = string, a = number}) }
variable "c4_0" { type = "foo" }
variable "c5_0" { type = "${string}" }
variable "c6_0" { type = map(object({a=optional(any)})) }
variable "c7_0" { type = list(any) }
variable "c8_0" { type = dynamic }
