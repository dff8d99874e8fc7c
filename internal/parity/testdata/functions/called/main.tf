terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}

variable "word" {
  default = "word"
  validation {
    condition     = provider::fault::shout(var.word) == "WORD"
    error_message = "another word"
  }
}

locals {
  loud = [for w in ["a", "b"] : provider::fault::shout(w)]
}

resource "terraform_data" "a" {
  for_each = toset(local.loud)
  input    = provider::fault::shout(each.key, null)
}

resource "terraform_data" "late" {
  input = provider::fault::shout(terraform_data.a["A"].output)
}

output "caught" {
  value = try(provider::fault::shout("fail"), "caught")
}
