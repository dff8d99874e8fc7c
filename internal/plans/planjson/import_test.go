package planjson_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

// TestImportAsTerraform adopts objects by import blocks and compares every document wholly.
func TestImportAsTerraform(t *testing.T) {
	t.Parallel()
	each := "resource \"terraform_data\" \"e\" {\n  for_each = toset([\"x\", \"y\", \"z\"])\n  input = 1\n}\nimport {\n  for_each = { x = \"id-x\", y = \"id-y\" }\n  to = terraform_data.e[each.key]\n  id = each.value\n}\n"
	module := "module \"m\" {\n  source = \"./m\"\n  count = 2\n}\nimport {\n  for_each = { first = 0, second = 1 }\n  to = module.m[each.value].terraform_data.in\n  id = each.key\n}\n"
	computed := "variable \"prefix\" {\n  default = \"pre\"\n}\nlocals {\n  id = \"${var.prefix}-fix\"\n}\nresource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a.id\n}\nimport {\n  to = terraform_data.a\n  id = local.id\n}\nimport {\n  to = terraform_data.b\n  id = terraform_data.a.id\n}\noutput \"o\" {\n  value = terraform_data.b\n}\n"
	tests := map[string][]step{
		"unchanged":        {{config: declared("a") + imports("terraform_data.a", `"one"`)}, {config: declared("a") + imports("terraform_data.a", `"one"`)}},
		"updated":          {{config: "resource \"terraform_data\" \"a\" {\n  input = \"new\"\n}\n" + imports("terraform_data.a", `"one"`)}, {config: "resource \"terraform_data\" \"a\" {\n  input = \"new\"\n}\n" + imports("terraform_data.a", `"two"`)}},
		"replaced":         {{config: "resource \"terraform_data\" \"a\" {\n  triggers_replace = 1\n}\n" + imports("terraform_data.a", `"one"`)}},
		"of each":          {{config: each}, {config: each}},
		"into modules":     {{config: declared("r") + module, files: modules(declared("in"), "")}},
		"computed ids":     {{config: computed}, {config: computed}},
		"destroyed":        {{config: declared("b")}, {config: declared("a", "b") + imports("terraform_data.a", `"one"`), args: []string{"-destroy"}, opts: destroy()}},
		"targeted":         {{config: declared("a", "b") + imports("terraform_data.a", `"one"`, "terraform_data.b", `"two"`), args: []string{"-target=terraform_data.a"}, opts: target(t, "terraform_data.a")}},
		"number as id":     {{config: declared("a") + imports("terraform_data.a", "5")}},
		"something beside": {{config: declared("a", "b") + imports("terraform_data.a", `"one"`)}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, oracletest.New(t), steps)
		})
	}
}

// imports is import blocks from pairs of an address and an id.
func imports(pairs ...string) string {
	out := ""
	for i := 0; i < len(pairs); i += 2 {
		out += "import {\n  to = " + pairs[i] + "\n  id = " + pairs[i+1] + "\n}\n"
	}
	return out
}
