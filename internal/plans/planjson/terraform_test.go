package planjson_test

import (
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

const child = `
variable "v" {
  description = "what goes in"
}
variable "opt" {
  default   = { a = 1 }
  sensitive = true
}
resource "terraform_data" "in" {
  input      = var.v
  depends_on = [terraform_data.y]
}
resource "terraform_data" "y" {}
output "o" {
  value       = terraform_data.in.id
  description = "the id"
  depends_on  = [terraform_data.y]
}
output "whole" {
  value = terraform_data.in
}
`

const many = `
variable "s" {
  type      = string
  default   = "hush"
  sensitive = true
}
variable "num" { default = 3 }
locals {
  l = { k = var.s, id = terraform_data.a.id }
}
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "b" {
  input            = { list = ["a", 1], map = { a = "b", "c d" = null }, json = jsonencode({ a = [1] }), sec = var.s, num = 1.5, nothing = null, l = local.l }
  triggers_replace = [terraform_data.a.id, terraform_data.a.id]
}
resource "terraform_data" "c" {
  for_each = toset(["k", "z"])
  input    = upper(each.key)
}
resource "terraform_data" "d" {
  count = var.num
  input = [terraform_data.c["k"].id, terraform_data.c["k"].output, terraform_data.c, values(terraform_data.c)[*].id, count.index]
}
module "m" {
  source     = "./m"
  count      = 2
  v          = terraform_data.a.output
  depends_on = [terraform_data.c]
}
module "n" {
  source   = "./m"
  for_each = { x = 1, y = 2 }
  v        = each.value
  opt      = { a = local.l.k }
}
output "o" { value = nonsensitive(terraform_data.b.input.sec) }
output "ol" { value = ["a", terraform_data.a.id] }
output "s" {
  value     = var.s
  sensitive = true
}
output "n" { value = module.m[*].o }
output "n0" { value = [module.m[0].o, module.n["x"].whole.id, module.n] }
output "nothing" { value = null }
output "const" {
  value      = { a = [1, "x", true, null] }
  depends_on = [terraform_data.d]
}
`

// changed is many with something of everything changed.
const changed = `
variable "s" {
  type      = string
  default   = "hush2"
  sensitive = true
}
variable "num" { default = 1 }
locals {
  l = { k = var.s, id = terraform_data.a.id }
}
resource "terraform_data" "a" {
  input = "xx"
}
resource "terraform_data" "b" {
  input            = { list = ["a", 2], map = { a = "b", "c d" = null }, json = jsonencode({ a = [1] }), sec = "plain", num = 1.5, nothing = null, l = local.l }
  triggers_replace = ["new"]
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "c" {
  for_each = toset(["k", "y"])
  input    = upper(each.key)
}
resource "terraform_data" "d" {
  count = var.num
  input = [terraform_data.c["k"].id, count.index]
}
module "m" {
  source = "./m"
  count  = 1
  v      = terraform_data.a.output
}
output "o" { value = terraform_data.b.input.sec }
output "s" {
  value     = var.s
  sensitive = true
}
output "n" { value = module.m[*].o }
output "nothing" { value = 1 }
output "const" { value = [1] }
`

const conditions = `
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
      condition     = self.id CONDITION "q"
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
`

const noInstances = `
resource "terraform_data" "z" {
  count = 0
  lifecycle {
    precondition {
      condition     = terraform_data.a["x"].id != ""
      error_message = "no"
    }
  }
}
`

const conditionsChild = `
variable "v" {
  validation {
    condition     = var.v != "q"
    error_message = "no"
  }
}
output "o" {
  value = var.v
  precondition {
    condition     = var.v != "q"
    error_message = "no"
  }
}
`

// holding is conditions in which the postcondition holds, or not.
func holding(holds bool) step {
	config := strings.ReplaceAll(conditions, "CONDITION", "==")
	if holds {
		config = strings.ReplaceAll(conditions, "CONDITION", "!=") + noInstances
	}
	return step{config: config, files: map[string]string{"m/m.tf": conditionsChild}, errored: !holds}
}

// TestAsTerraform plans and applies with the terraform binary and compares every document wholly.
func TestAsTerraform(t *testing.T) {
	t.Parallel()
	files := map[string]string{"m/m.tf": child}
	tests := map[string][]step{
		"empty":            {{config: ""}, {config: "locals {\n  a = 1\n}\n"}},
		"everything":       {{config: many, files: files}, {config: many, files: files}, {config: changed, files: files}, {config: changed, files: files}, {config: changed, files: files, args: []string{"-destroy"}, opts: destroy()}, {config: changed, files: files}},
		"conditions":       {holding(true), holding(true), holding(false)},
		"outputs only":     {{config: "output \"a\" {\n  value = \"x\"\n}"}, {config: "output \"a\" {\n  value = [1]\n}\noutput \"b\" {\n  value = sensitive(\"x\")\n  sensitive = true\n}"}, {config: "output \"b\" {\n  value = \"x\"\n}"}, {config: ""}},
		"replace":          {{config: "resource \"terraform_data\" \"a\" {}\n"}, {config: "resource \"terraform_data\" \"a\" {}\n", args: []string{"-replace=terraform_data.a"}, opts: replace(t, "terraform_data.a")}},
		"target":           {{config: "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a.id\n}\noutput \"o\" {\n  value = terraform_data.b.id\n}", args: []string{"-target=terraform_data.a"}, opts: target(t, "terraform_data.a")}},
		"repetition":       {{config: "resource \"terraform_data\" \"a\" {}\n"}, {config: "resource \"terraform_data\" \"a\" {\n  count = 2\n}\n"}, {config: "resource \"terraform_data\" \"a\" {\n  for_each = { x = 1 }\n  input = each.value\n}\n"}, {config: "resource \"terraform_data\" \"a\" {\n  for_each = { y = 1 }\n  input = each.value\n}\n"}},
		"order of indices": {{config: "resource \"terraform_data\" \"a\" {\n  count = 12\n}\nresource \"terraform_data\" \"B\" {}\nmodule \"z\" {\n  source = \"./z\"\n  count = 11\n}\n", files: map[string]string{"z/z.tf": "resource \"terraform_data\" \"q\" {}\nmodule \"y\" {\n  source = \"../y\"\n}", "y/y.tf": "resource \"terraform_data\" \"p\" {}\n"}}},
		"sensitivity":      {{config: "resource \"terraform_data\" \"a\" {\n  input = sensitive({ a = [1, 2], b = {} })\n}"}, {config: "resource \"terraform_data\" \"a\" {\n  input = { a = sensitive([1, 2]), b = {} }\n}"}, {config: "resource \"terraform_data\" \"a\" {\n  input = { a = [1, sensitive(2)], b = sensitive({}) }\n}\nresource \"terraform_data\" \"b\" {\n  input = [terraform_data.a.input.a[1], toset([sensitive(\"x\")])]\n}"}},
		"unknown shapes":   {{config: "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  input = { l = [terraform_data.a.id, \"k\"], m = { a = terraform_data.a.id }, s = toset([terraform_data.a.id, \"x\"]), t = tolist([terraform_data.a.id]), o = terraform_data.a, w = terraform_data.a.output, n = length(terraform_data.a.id), u = toset([terraform_data.a.id]) }\n}\noutput \"b\" {\n  value = terraform_data.b\n}"}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, oracletest.New(t), steps)
		})
	}
}
