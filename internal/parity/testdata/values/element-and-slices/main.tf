output "last" {
  value = element(tolist(["a", "b", "c"]), -1)
}
output "wrap" {
  value = element(["a", "b"], 3)
}
output "slice" {
  value = slice(["a", "b", "c"], 1, 3)
}
output "rng" {
  value = range(1, 10, 3)
}
output "chunk" {
  value = chunklist(["a", "b", "c"], 2)
}
output "index" {
  value = index(["a", "b"], "b")
}
output "reverse" {
  value = reverse([1, 2])
}
output "one" {
  value = one([])
}
output "distinct" {
  value = distinct(["a", "a", "b"])
}
output "setp" {
  value = setproduct(["a"], [1, 2])
}
output "zip" {
  value = zipmap(["a", "b"], [1, 2])
}
output "transpose" {
  value = transpose({ a = ["x"], b = ["x", "y"] })
}
output "matchkeys" {
  value = matchkeys(["a", "b"], ["1", "2"], ["2"])
}
output "flatten" {
  value = flatten([[1, [2]], []])
}
