terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

output "argument" {
  value = provider::fault::shout("fail")
}

output "null" {
  value = provider::fault::shout(null)
}

output "unknown" {
  value = provider::fault::nope("a")
}

output "provider" {
  value = provider::nope::shout("a")
}

output "few" {
  value = provider::fault::shout()
}
