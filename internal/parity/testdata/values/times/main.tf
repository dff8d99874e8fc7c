output "plan" {
  value = length(plantimestamp())
}
output "stamp" {
  value = length(timestamp())
}
output "uuid" {
  value = length(uuid())
}
output "add" {
  value = timeadd("2017-11-22T00:00:00Z", "10m")
}
output "cmp" {
  value = timecmp("2017-11-22T00:00:00Z", "2017-11-22T01:00:00Z")
}
output "format" {
  value = formatdate("EEE DD MMM YYYY hh:mm ZZZ", "2018-01-02T23:12:01Z")
}
output "v5" {
  value = uuidv5("dns", "example.com")
}
output "bcrypt" {
  value = length(bcrypt("x"))
}
