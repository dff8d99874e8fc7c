package planjson_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

const overridden = `
variable "v" {
  type    = string
  default = "base"
}
variable "w" {
  default     = 1
  description = "stays"
}
locals {
  l = "base"
  k = "stays"
}
resource "terraform_data" "a" {
  input            = "base"
  triggers_replace = local.l
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "b" {
  input = [var.v, var.w, local.l, local.k]
}
resource "terraform_data" "c" {
  count = 2
}
module "m" {
  source = "./m"
  v      = "base"
}
output "o" {
  value       = terraform_data.a.input
  description = "stays"
}
`

// TestOverridesAsTerraform lays override files over a configuration and compares
// every document wholly, the description of the configuration included.
func TestOverridesAsTerraform(t *testing.T) {
	t.Parallel()
	child := "variable \"v\" {}\nvariable \"w\" {\n  default = 2\n}\nresource \"terraform_data\" \"in\" {\n  input = [var.v, var.w]\n}\n"
	base := step{config: overridden, files: map[string]string{"m/m.tf": child, "n/n.tf": child}}
	over := step{config: overridden, files: map[string]string{
		"m/m.tf": child, "n/n.tf": child, "m/override.tf": "variable \"w\" {\n  default = 3\n}\n",
		"a_override.tf": "variable \"v\" {\n  default = \"a\"\n}\nresource \"terraform_data\" \"a\" {\n  input = \"a\"\n}\n",
		"b_override.tf": "resource \"terraform_data\" \"a\" {\n  input = \"b\"\n  lifecycle {\n    ignore_changes = [triggers_replace]\n  }\n}\nlocals {\n  l = \"over\"\n}\nresource \"terraform_data\" \"c\" {\n  count = 1\n}\n",
		"override.tf":   "variable \"v\" {\n  default = \"first\"\n}\nmodule \"m\" {\n  v = \"over\"\n}\noutput \"o\" {\n  value = terraform_data.b.id\n}\n",
	}}
	run(t, oracletest.New(t), []step{base, over, over})
}
