output "collapsed" {
  value = toset([1, "1", true])
}
output "numbers" {
  value = sort([for n in toset([10, 9, 1]) : n])
}
output "as_list" {
  value = tolist(toset([10, 9, 1]))
}
output "texts" {
  value = tolist(toset(["10", "9", "1", "Z", "a", "ä"]))
}
output "sort" {
  value = sort(["b", "a", "Z", "ä"])
}
output "nested" {
  value = toset([["a"], ["a"], ["b"]])
}
output "objects" {
  value = toset([{ a = 1 }, { a = 1 }, { a = 2 }])
}
