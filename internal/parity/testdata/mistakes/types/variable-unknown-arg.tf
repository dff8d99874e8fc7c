variable "a_2" { foo = 1 }
