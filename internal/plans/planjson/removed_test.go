package planjson_test

import (
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

// removed is removed blocks, each with whether the objects are destroyed.
func removed(pairs ...string) string {
	var out strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		out.WriteString("removed {\n  from = " + pairs[i] + "\n  lifecycle {\n    destroy = " + pairs[i+1] + "\n  }\n}\n")
	}
	return out.String()
}

// TestRemovedAsTerraform forgets and destroys objects and compares every document wholly.
func TestRemovedAsTerraform(t *testing.T) {
	t.Parallel()
	// The root uses the provider as well: what a module implies by itself is told apart.
	module := declared("r") + "module \"m\" {\n  source = \"./m\"\n}\n"
	nested := modules(declared("in", "keep")+"module \"deep\" {\n  source = \"../deep\"\n}\n", declared("far"))
	sensitive := "resource \"terraform_data\" \"s\" {\n  input = sensitive(\"x\")\n}\noutput \"o\" {\n  value = 1\n}\n"
	inside := modules(removed("terraform_data.in", "false"), "")
	inside["m/m.tf"] += declared("keep") + "module \"deep\" {\n  source = \"../deep\"\n}\n"
	inside["deep/deep.tf"] = declared("far")
	tests := map[string][]step{
		"forgotten":             {{config: declared("a", "b")}, {config: declared("b") + removed("terraform_data.a", "false")}, {config: declared("b") + removed("terraform_data.a", "false")}},
		"destroyed":             {{config: declared("a", "b")}, {config: declared("b") + removed("terraform_data.a", "true")}},
		"sensitive":             {{config: sensitive}, {config: removed("terraform_data.s", "false")}},
		"module":                {{config: module, files: nested}, {config: declared("r") + removed("module.m", "false"), files: nested}},
		"resource of a module":  {{config: module, files: nested}, {config: declared("r") + removed("module.m.terraform_data.in", "false"), files: nested}},
		"module in a module":    {{config: module, files: nested}, {config: declared("r") + removed("module.m.module.deep", "false"), files: nested}},
		"said inside a module":  {{config: module, files: nested}, {config: module, files: inside}},
		"instances":             {{config: "resource \"terraform_data\" \"a\" {\n  count = 2\n}\n"}, {config: removed("terraform_data.a", "false")}},
		"nothing there":         {{config: declared("a")}, {config: declared("a") + removed("terraform_data.x", "false")}},
		"moved first":           {{config: declared("a")}, {config: moves("terraform_data.a", "terraform_data.b") + removed("terraform_data.b", "false")}},
		"all destroyed":         {{config: declared("a", "b")}, {config: declared("b") + removed("terraform_data.a", "false"), args: []string{"-destroy"}, opts: destroy()}},
		"of others' dependency": {{config: declared("a") + "resource \"terraform_data\" \"d\" {\n  input = terraform_data.a.id\n}\n"}, {config: removed("terraform_data.a", "false")}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, oracletest.New(t), steps)
		})
	}
}
