terraform {
 required_providers {
  a = { source = "a/b/c/d" }
  b = { source = "" }
  c = { source = "a b" }
  d = { source = "HashiCorp/Time" }
  e = { source = "foo/terraform-provider-x" }
  f = { source = 1 }
  g = { source = "localhost/x" }
  h = { source = "-/x" }
  i = { source = "terraform-providers/x" }
  j = { source = "foo/bar_baz" }
  k = { source = null }
  }
}
