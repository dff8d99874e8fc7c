output "group" {
  value = { for x in ["a", "b", "ab"] : substr(x, 0, 1) => x... }
}
output "filter" {
  value = [for i, x in ["a", "b", "c"] : "${i}${x}" if x != "b"]
}
output "object" {
  value = { for i, x in ["a", "b"] : i => upper(x) }
}
output "of_map" {
  value = [for k, v in { b = 1, a = 2 } : "${k}${v}"]
}
output "of_set" {
  value = [for x in toset(["b", "a"]) : x]
}
output "nested" {
  value = flatten([for a in ["x", "y"] : [for b in [1, 2] : "${a}${b}"]])
}
output "dups" {
  value = { a = 1, a = 2 }
}
output "splat" {
  value = [{ a = 1 }, { a = 2 }][*].a
}
output "full" {
  value = { o = { b = [{ c = [1, 2] }] } }.o.*.b
}
