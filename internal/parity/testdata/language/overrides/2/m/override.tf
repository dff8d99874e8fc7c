variable "w" {
  default = 3
}
