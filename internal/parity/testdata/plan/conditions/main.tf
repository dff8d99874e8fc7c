variable "v" {
  default = "a"
  validation {
    condition     = length(var.v) > 0
    error_message = "no"
  }
}
resource "terraform_data" "a" {
  for_each = toset(["x", "y"])
  input    = each.key
  lifecycle {
    precondition {
      condition     = each.key != ""
      error_message = "no"
    }
    postcondition {
      condition     = self.id != "q"
      error_message = "not for ${each.key}"
    }
  }
}
module "m" {
  source = "./m"
  count  = 2
  v      = terraform_data.a["x"].id
}
output "o" {
  value = 1
  precondition {
    condition     = terraform_data.a["x"].output == "x"
    error_message = "no"
  }
}

resource "terraform_data" "z" {
  count = 0
  lifecycle {
    precondition {
      condition     = terraform_data.a["x"].id != ""
      error_message = "no"
    }
  }
}
