package render_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

// TestImportAsTerraform compares the texts of plans that import objects.
func TestImportAsTerraform(t *testing.T) {
	t.Parallel()
	run(t, oracletest.New(t), []step{{config: `
resource "terraform_data" "same" {}
resource "terraform_data" "updated" {
  input = 1
}
resource "terraform_data" "replaced" {
  triggers_replace = 1
}
resource "terraform_data" "made" {}
import {
  to = terraform_data.same
  id = "sa\"me"
}
import {
  to = terraform_data.updated
  id = "updated"
}
import {
  to = terraform_data.replaced
  id = "replaced"
}
`}, {config: "resource \"terraform_data\" \"a\" {}\nimport {\n  to = terraform_data.a\n  id = \"x\"\n}\nremoved {\n  from = terraform_data.same\n}\nremoved {\n  from = terraform_data.made\n  lifecycle {\n    destroy = false\n  }\n}\n"}})
}
