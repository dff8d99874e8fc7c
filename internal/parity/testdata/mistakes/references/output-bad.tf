output "a_11" {}
output "b_11" {
 value = 1
 sensitive = "x"
 foo = 1
 description = null
 depends_on = ["x"]
}
