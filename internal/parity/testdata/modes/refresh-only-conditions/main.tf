variable "ok" {
  default = true
}
variable "new" {
  default = 0
}
resource "terraform_data" "a" {
  input = 1
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "before a"
    }
    postcondition {
      condition     = self.input == 1 && var.ok
      error_message = "after a"
    }
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
  lifecycle {
    precondition {
      condition     = terraform_data.a.id != "" && var.ok
      error_message = "before b"
    }
  }
}
resource "terraform_data" "new" {
  count = var.new
  lifecycle {
    precondition {
      condition     = var.ok
      error_message = "before new"
    }
    postcondition {
      condition     = var.ok
      error_message = "after new"
    }
  }
}
output "o" {
  value = terraform_data.a.id
  precondition {
    condition     = var.ok
    error_message = "output"
  }
}
