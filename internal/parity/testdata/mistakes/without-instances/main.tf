locals {
  none = []
}

resource "terraform_data" "counted" {
  count = 0
  input = upper(["a"])
}

resource "terraform_data" "each" {
  for_each = toset(local.none)
  input    = "${each.key}${each.value.name}"
  lifecycle {
    precondition {
      condition     = upper([each.key]) == ""
      error_message = "never"
    }
  }
}

module "m" {
  source = "./m"
  count  = length(local.none)
  given  = count.index
}

output "kept" {
  value = [one(terraform_data.counted[*].id), try(terraform_data.each["x"].id, null), module.m[*].out]
}
