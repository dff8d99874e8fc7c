package planjson_test

import (
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

const validated = `
variable "low" {
  default = LOW
  validation {
    condition     = var.low < var.high && var.low < local.limit && terraform_data.r.id != var.low
    error_message = "${var.low} is not below ${var.high}"
  }
}
variable "high" {
  default = 3
}
locals {
  limit = 10
}
resource "terraform_data" "r" {}
resource "terraform_data" "uses" {
  input = var.low
}
resource "terraform_data" "other" {}
module "m" {
  source = "./m"
  count  = 2
  v      = var.low
}
output "o" {
  value = var.low
}
`

const validatedChild = `
variable "v" {
  validation {
    condition     = var.v < local.limit && terraform_data.in[0].id != "" && module.deep.o != var.v
    error_message = "no"
  }
}
locals {
  limit = 2
}
resource "terraform_data" "in" {
  count = 1
}
resource "terraform_data" "use" {
  input = var.v
}
module "deep" {
  source = "../deep"
}
`

// TestValidationsAsTerraform compares plans whose variables are compared with
// other objects: what needs a variable waits for all of them, and is not planned
// if a rule does not hold.
func TestValidationsAsTerraform(t *testing.T) {
	t.Parallel()
	files := modules(validatedChild, "output \"o\" {\n  value = -1\n}\n")
	with := func(low string, errored bool) step {
		return step{config: strings.ReplaceAll(validated, "LOW", low), files: files, errored: errored}
	}
	destroyed := with("0", false)
	destroyed.args, destroyed.opts = []string{"-destroy"}, destroy()
	run(t, oracletest.New(t), []step{with("1", false), with("1", false), with("0", false), with("2", true), with("5", true), destroyed})
}
