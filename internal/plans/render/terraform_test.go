package render_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

func parseAddr(t *testing.T, text string) addrs.ResourceInstance {
	t.Helper()
	addr, diags := addrs.ParseResourceInstance(text)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return addr
}

// one is a configuration with one resource that has the given input.
func one(input string) step {
	return step{config: "resource \"terraform_data\" \"a\" {\n  input = " + input + "\n}\n"}
}

// replacing is a resource that is replaced with its trigger, and one that refers to it.
func replacing(trigger, lifecycle string) step {
	return step{config: `
resource "terraform_data" "a" {
  input            = "x"
  triggers_replace = ` + trigger + `
  lifecycle {
    ` + lifecycle + `
  }
}
resource "terraform_data" "b" {
  input            = { l = [terraform_data.a.id, "k"], id = terraform_data.a.id, s = "pre-${terraform_data.a.id}" }
  triggers_replace = terraform_data.a.id
}
`}
}

// triggers is a resource that is replaced when an attribute of another one changes.
func triggers(input string) string {
	return `
resource "terraform_data" "a" {
  input = "` + input + `"
}
resource "terraform_data" "c" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.input]
  }
}
`
}

// TestAsTerraform plans, applies and shows with the terraform binary and compares every text.
func TestAsTerraform(t *testing.T) {
	t.Parallel()
	tests := map[string][]step{
		"texts": {
			one(`"x"`), one(`"y"`), one(`"line 1\nline 2\n"`), one(`"line 1\nline 2b\nline 3"`), one(`"line"`), one(`""`),
			one(`"quo\"te \\ ${"$"}{x} tab\t ü \u00a0"`),
		},
		"empty texts": {
			one(`{ a = "", b = "x" }`), one(`{ a = "y", b = "" }`), one(`""`), one(`null`), one(`""`), one(`sensitive("")`), one(`sensitive("x")`), one(`sensitive("")`), one(`""`), one(`[""]`),
		},
		"JSON texts": {
			one(`jsonencode({ a = [1, 2], b = "x" })`), one(`jsonencode({ a = [1, 3, 4], b = "x", c = null })`),
			one(`"{\"a\": [1,3,4], \"b\":\"x\", \"c\": null}"`), one(`jsonencode([{ a = 1, k = "v" }, { a = 2 }])`),
			one(`jsonencode([{ a = 1, k = "w" }, { a = 2 }, 7])`), one(`"not json"`), one(`jsonencode({})`), one(`jsonencode([])`), one(`"{ broken"`),
			one(`jsonencode({ a = ["a", "b", "c", "d"], s = { t = { u = true } } })`), one(`jsonencode({ a = ["a", "x", "c", "d"], s = { t = { u = false } } })`),
		},
		"kinds": {
			one(`1.50`), one(`12345678901234567890`), one(`true`), one(`"true"`), one(`[true]`), one(`{ a = true }`), one(`null`), one(`[]`), one(`{}`), one(`tomap({})`), one(`["x"]`),
		},
		"lists": {
			one(`["a", "b", "c", "d", "e", "f"]`), one(`["a", "b", "c", "x", "e", "f"]`), one(`["b", "c", "x", "e", "f", "g"]`), one(`["g"]`), one(`[1, 2, null]`), one(`[1, 3, "x"]`),
			one(`[{ a = 1, id = "i" }, { a = 2 }, { a = 3 }]`), one(`[{ a = 1, id = "i" }, { a = 4, b = [1] }, { a = 3 }]`), one(`[{ a = 3 }]`),
			one(`["x\ny\nz", "b"]`), one(`["x\nyy\nz", "b"]`), one(`[["a"], ["b"]]`), one(`[["a"], ["c"]]`),
		},
		"moves in lists": {
			one(`["a", "b", "c"]`), one(`["b", "a", "c"]`), one(`["c", "a", "b"]`), one(`["b", "a", "c"]`), one(`["b", "b", "x", "a"]`), one(`["x", "b", "a", "b", "c"]`), one(`["b", "b"]`), one(`["a", "b", "b", "b"]`), one(`["b"]`),
		},
		"sets and maps": {
			one(`toset(["a", "b"])`), one(`toset(["b", "c"])`), one(`toset([])`), one(`tomap({ a = "1", "b c" = "2" })`), one(`tomap({ a = "1", "b c" = "3", d = "4" })`), one(`tolist(["a"])`), one(`tolist(["b"])`),
		},
		"objects": {
			one(`{ a = 1, name = "n", tags = { x = 1 }, n = null }`), one(`{ a = 2, name = "n", tags = { x = 1 }, n = null }`), one(`{ a = 2, "odd key" = { deep = { deeper = [1] } } }`),
			one(`{ a = 2, "odd key" = { deep = { deeper = [2] } }, n = "now" }`), one(`{ a = 2, "odd key" = { deep = { deeper = [2] } }, n = null }`),
		},
		"replacement": {
			replacing(`"1"`, ""), replacing(`"2"`, ""), replacing(`["1", { k = 1 }]`, ""), replacing(`["2", { k = 1 }]`, "create_before_destroy = true"),
			replacing(`{ a = 1 }`, "create_before_destroy = true"), replacing(`sensitive({ a = 2 })`, ""), replacing(`null`, ""),
			{config: replacing(`null`, "").config, replace: "terraform_data.a"},
		},
		"triggers": {
			{config: triggers("x")}, {config: triggers("y")},
		},
		"sensitive": {
			{config: "variable \"s\" {\n  default = \"hush\"\n  sensitive = true\n}\nresource \"terraform_data\" \"a\" {\n  input = { k = var.s, l = [1, var.s], plain = \"p\" }\n}\noutput \"o\" {\n  value = var.s\n  sensitive = true\n}\n"},
			{config: "variable \"s\" {\n  default = \"hush2\"\n  sensitive = true\n}\nresource \"terraform_data\" \"a\" {\n  input = { k = var.s, l = [1, var.s], plain = \"p\" }\n}\noutput \"o\" {\n  value = var.s\n  sensitive = true\n}\n"},
			{config: "variable \"s\" {\n  default = \"hush2\"\n  sensitive = true\n}\nresource \"terraform_data\" \"a\" {\n  input = { k = nonsensitive(var.s), l = [1, \"q\"], plain = var.s }\n}\noutput \"o\" {\n  value = nonsensitive(var.s)\n}\n"},
			{config: "variable \"s\" {\n  default = \"hush2\"\n  sensitive = true\n}\nresource \"terraform_data\" \"a\" {\n  input = sensitive({ k = nonsensitive(var.s), l = [1, \"q\"], plain = \"x\" })\n}\noutput \"o\" {\n  value = var.s\n  sensitive = true\n}\n"},
			{config: "", destroy: true},
		},
		"outputs": {
			{config: "output \"a\" {\n  value = \"x\"\n}\noutput \"l\" {\n  value = [1, { k = \"v\" }]\n}\noutput \"n\" {\n  value = null\n}\noutput \"t\" {\n  value = \"l1\\nl2\"\n}"},
			{config: "output \"a\" {\n  value = \"y\"\n}\noutput \"l\" {\n  value = [1, { k = \"w\" }]\n}\noutput \"n\" {\n  value = 1\n}\noutput \"j\" {\n  value = jsonencode({ a = 1 })\n}"},
			{config: "output \"a\" {\n  value = tolist([\"y\"])\n}\noutput \"n\" {\n  value = null\n}"},
			{config: ""},
			{config: ""},
		},
		"reasons": {
			{config: "resource \"terraform_data\" \"n\" {\n  count = 2\n}\nresource \"terraform_data\" \"e\" {\n  for_each = toset([\"a\", \"b\"])\n}\nresource \"terraform_data\" \"gone\" {}\nmodule \"m\" {\n  source = \"./m\"\n  count = 2\n}\nmodule \"gone\" {\n  source = \"./m\"\n}", files: map[string]string{"m/m.tf": "resource \"terraform_data\" \"in\" {}\n"}},
			{config: "resource \"terraform_data\" \"n\" {\n  count = 1\n}\nresource \"terraform_data\" \"e\" {\n  for_each = toset([\"b\"])\n}\nmodule \"m\" {\n  source = \"./m\"\n  count = 1\n}", files: map[string]string{"m/m.tf": "resource \"terraform_data\" \"in\" {}\n"}},
			{config: "resource \"terraform_data\" \"n\" {\n  for_each = toset([\"z\"])\n}\nresource \"terraform_data\" \"e\" {\n  count = 1\n}\nmodule \"m\" {\n  source = \"./m\"\n  count = 1\n}", files: map[string]string{"m/m.tf": "resource \"terraform_data\" \"in\" {}\n"}},
			{config: "resource \"terraform_data\" \"n\" {\n}\nresource \"terraform_data\" \"e\" {\n}\nmodule \"m\" {\n  source = \"./m\"\n  count = 1\n}", files: map[string]string{"m/m.tf": "resource \"terraform_data\" \"in\" {}\n"}},
			{config: "resource \"terraform_data\" \"n\" {\n  count = 1\n}\nresource \"terraform_data\" \"e\" {\n  count = 1\n}\n"},
			{config: "resource \"terraform_data\" \"n\" {\n  count = 1\n}\nresource \"terraform_data\" \"e\" {\n  count = 1\n}\n", refresh: true, planOnly: true},
			{config: "resource \"terraform_data\" \"n\" {\n  count = 1\n}\nresource \"terraform_data\" \"e\" {\n  count = 1\n}\n", planOnly: true},
			{config: "resource \"terraform_data\" \"n\" {\n  count = 1\n}\nresource \"terraform_data\" \"e\" {\n  count = 1\n}\n", destroy: true},
			{config: "resource \"terraform_data\" \"n\" {\n  count = 1\n}\n", destroy: true, planOnly: true},
		},
		"order": {
			{config: "resource \"terraform_data\" \"z\" {\n  count = 12\n}\nresource \"terraform_data\" \"a\" {\n}\nmodule \"b\" {\n  source = \"./m\"\n}\nmodule \"a\" {\n  source = \"./m\"\n  for_each = { x = 1, a = 2 }\n}", files: map[string]string{"m/m.tf": "resource \"terraform_data\" \"in\" {}\nmodule \"deep\" {\n  source = \"../n\"\n}\n", "n/n.tf": "resource \"terraform_data\" \"deep\" {}\n"}},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, oracletest.New(t), steps)
		})
	}
}
