variable "a_3" {}
variable "a_3" {}
