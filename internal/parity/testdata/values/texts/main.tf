output "title" {
  value = title("hello ä world")
}
output "trims" {
  value = [trim("xxaxx", "x"), trimprefix("helloworld", "hello"), trimsuffix("a.b", ".b"), trimspace("  a ")]
}
output "regex" {
  value = regex("(?P<a>[a-z]+)(?P<n>[0-9]+)", "abc123")
}
output "all" {
  value = regexall("[a-z]", "a1b2")
}
output "replace" {
  value = replace("1 + 2", "/([0-9])/", "<$1>")
}
output "split" {
  value = split(",", "a,,b")
}
output "substr" {
  value = substr("hällo", 1, 2)
}
output "indent" {
  value = indent(2, "a\nb")
}
output "chomp" {
  value = chomp("a\n\n")
}
output "rev" {
  value = strrev("häl")
}
output "fmt" {
  value = format("%5.2f|%-5s|%05d|%q|%t|%x|%v", 1.5, "a", 42, "q", true, 255, [1, "a"])
}
output "fl" {
  value = formatlist("%s-%d", ["a", "b"], 1)
}
output "cont" {
  value = [strcontains("abc", "b"), endswith("abc", "c"), startswith("abc", "b")]
}
output "abspath" {
  value = basename("/a/b") == dirname("b/c") ? 1 : 2
}
output "len" {
  value = length("häl")
}
