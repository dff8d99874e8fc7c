package render_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

// TestRemovedAsTerraform compares the texts of plans that forget objects.
func TestRemovedAsTerraform(t *testing.T) {
	t.Parallel()
	files := map[string]string{"m/m.tf": "resource \"terraform_data\" \"in\" {\n  input = [1]\n}\n"}
	before := step{files: files, config: `
resource "terraform_data" "a" {
  count = 2
  input = { k = "v", n = null, l = [1, 2] }
}
resource "terraform_data" "b" {}
module "m" {
  source = "./m"
}
`}
	after := step{files: files, config: `
resource "terraform_data" "c" {}
removed {
  from = terraform_data.a
  lifecycle {
    destroy = false
  }
}
removed {
  from = terraform_data.b
}
removed {
  from = module.m
  lifecycle {
    destroy = false
  }
}
`}
	run(t, oracletest.New(t), []step{before, after, after})
}
