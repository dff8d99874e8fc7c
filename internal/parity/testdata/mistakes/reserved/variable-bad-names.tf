variable "a b" {}
variable "1" {}
variable "for_each" {}
variable "source" {}
variable "version" {}
variable "providers" {}
variable "count" {}
variable "lifecycle" {}
variable "depends_on" {}
variable "locals" {}
