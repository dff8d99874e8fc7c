terraform {
  required_providers {
    v5 = { source = "towline/v5" }
  }
}

provider "v5" {
  endpoint = "x"
}

resource "terraform_data" "a" {
  input = 1
}

data "v5_echo" "late" {
  text = terraform_data.a.id

  lifecycle {
    postcondition {
      condition     = self.text == "something else"
      error_message = "Not that."
    }
  }
}

resource "terraform_data" "after" {
  input = data.v5_echo.late.text
}
