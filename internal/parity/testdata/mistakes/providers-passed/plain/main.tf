resource "time_static" "a" {}
