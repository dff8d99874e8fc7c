package tfdiags_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const declarations = `
variable "s" {
  default   = "hush"
  sensitive = true
}
variable "l" { default = ["a", "b"] }
variable "m" { default = { a = 1, b = 2 } }
variable "str" { default = "some text that is quite long, longer than anything, to see whether it is cut off somewhere" }
variable "n" {
  type    = string
  default = null
}
variable "multi" { default = "a\nb" }
variable "tm" {
  type    = map(string)
  default = {}
}
variable "ls" {
  type    = list(string)
  default = ["x"]
}
variable "st" {
  type    = set(number)
  default = [1, 2]
}
variable "num" { default = 1.5 }
variable "bo" { default = true }
variable "o1" { default = { x = 1 } }
variable "lo" { default = [{ a = 1 }, { b = 2 }] }
variable "ml" {
  type    = map(list(string))
  default = { k = ["a"] }
}
variable "big" { default = 12345678901234567890123 }
variable "sens_in" {
  type    = object({ a = string, b = list(number) })
  default = { a = "x", b = [1] }
}
variable "onull" {
  type    = object({ a = string })
  default = null
}
locals {
  x   = []
  eo  = {}
  foo = { a = { x = 1 } }
}
resource "terraform_data" "u" {}
resource "terraform_data" "c" {
  count = 2
}
`

// mistakes are configurations with what the language itself complains about, so
// that summary and detail are the same on both sides.
var mistakes = map[string]string{
	"syntax: unclosed block":      "output \"x\" {\n  value = 1\n",
	"syntax: string over lines":   "resource \"terraform_data\" \"q\" {}\noutput \"z\" {\n  value = \"a${\"\n}",
	"syntax: stray character":     "output \"z\" {\n  value = 1 ! 2\n}\n",
	"labels":                      "resource \"a\" {\n  foo = 1\n}\n",
	"unknown argument":            "variable \"x\" {\n  typ = string\n}\n",
	"missing argument":            "output \"b\" {\n}\n",
	"attribute of a text":         "variable \"a\" {\n  type = list(string)\n}\noutput \"x\" {\n  value = {\n    a = 1\n    b = [for k in\n      var.a : k.foo\n    ]\n  }\n}\n",
	"index":                       declarations + "output \"i\" {\n  value = var.ls[\"zz\"]\n}",
	"function result":             declarations + "output \"b\" {\n  value = jsondecode(\"{\")\n}",
	"function argument":           declarations + "output \"b\" {\n  value = substr(var.str, \"a\", 1)\n}",
	"too many arguments":          declarations + "output \"b\" {\n  value = upper(var.str, 1)\n}",
	"variadic function":           declarations + "output \"b\" {\n  value = max(1, \"x\")\n}",
	"function in lines":           declarations + "output \"b\" {\n  value = substr(\n    var.str,\n    \"a\",\n    1,\n  )\n}",
	"conditional":                 declarations + "output \"k\" {\n  value = true ? { a = 1 } : []\n}",
	"operand":                     declarations + "output \"d\" {\n  value = var.ls + 1\n}",
	"several, in several blocks":  declarations + "output \"z\" {\n  value = var.ls + 1\n}\noutput \"a\" {\n  value = var.ls.x\n}\n",
	"missing attribute of object": declarations + "output \"d\" {\n  value = var.sens_in.zz\n}",
	"template":                    declarations + "output \"d\" {\n  value = \"a-${var.ls}\"\n}",
}

// TestValidateAsTerraform compares what both print of mistakes found without values.
func TestValidateAsTerraform(t *testing.T) {
	t.Parallel()
	for name, config := range mistakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := oracletest.New(t)
			b.Write(map[string]string{"main.tf": config})
			_, want, _ := b.Run("validate", "-no-color")
			wantJSON, _, _ := b.Run("validate", "-json")
			loaded, diags := configs.Load(b.Dir)
			if !diags.HasErrors() {
				eng := engine.New(engine.Options{})
				t.Cleanup(func() { _ = eng.Close() })
				diags = eng.Validate(t.Context(), loaded)
			}
			compare(t, b, want, diags, loaded.Sources)
			compareJSON(t, b, wantJSON, diags, loaded.Sources)
		})
	}
}

// TestPlanAsTerraform compares what both print of a condition that does not hold,
// with the values that it used.
func TestPlanAsTerraform(t *testing.T) {
	t.Parallel()
	all := "[var.s, var.l, var.m, var.str, var.n, var.multi, var.tm, var.ls, var.st, var.num, var.bo, var.o1, terraform_data.u.id, var.l[0], var.m[\"a\"], local.x, local.eo, terraform_data.u, var.lo, var.ml, var.big, var.sens_in, var.onull, terraform_data.c, terraform_data.c[0], local.foo[var.l[0]].x, var.str]"
	for name, condition := range map[string]string{
		"everything":     "var.num == 99 && 0 < length(" + all + ")",
		"over lines":     "(\n      var.num == 99\n      || var.l[0] == \"z\"\n    )",
		"only sensitive": "var.s == \"x\"",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := oracletest.New(t)
			b.Write(map[string]string{"main.tf": declarations + "resource \"terraform_data\" \"a\" {\n  lifecycle {\n    precondition {\n      condition     = " + condition + "\n      error_message = \"This does not hold, and the text about it is so long that it must be broken over lines.\\n\\n  this stays\"\n    }\n  }\n}\n"})
			_, want, _ := b.Run("plan", "-no-color")
			planned := b.Plan(engine.PlanOptions{})
			// Terraform names no address for a failed condition of a resource.
			for i := range planned.Diags {
				planned.Diags[i].Address = ""
			}
			compare(t, b, want, planned.Diags, planned.Config.Sources)
		})
	}
}

// newerText is what the newer cty library adds to the text about a conversion
// that fails; see docs/internals/differences.md.
var newerText = regexp.MustCompile(`, but have [a-z ]+\.`)

// compare compares the texts, with the names of files as from inside the directory.
func compare(t *testing.T, b *oracletest.Bench, want string, diags tfdiags.Diagnostics, sources map[string][]byte) {
	t.Helper()
	var got strings.Builder
	if err := (tfdiags.Format{Width: 78, Sources: sources}).Write(&got, diags); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, newerText.ReplaceAllString(strings.ReplaceAll(got.String(), b.Dir+"/", ""), ".")); diff != "" {
		t.Errorf("diagnostics differ (-terraform +towline):\n%s", diff)
	}
}

func compareJSON(t *testing.T, b *oracletest.Bench, document string, diags tfdiags.Diagnostics, sources map[string][]byte) {
	t.Helper()
	var want struct {
		Diagnostics []map[string]any `json:"diagnostics"`
	}
	if err := json.Unmarshal([]byte(document), &want); err != nil {
		t.Fatal(err)
	}
	got := []map[string]any{}
	for _, d := range diags {
		encoded, err := tfdiags.Format{Sources: sources}.JSON(d)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(newerText.ReplaceAllString(strings.ReplaceAll(string(encoded), b.Dir+"/", ""), ".")), &doc); err != nil {
			t.Fatal(err)
		}
		got = append(got, doc)
	}
	byText := func(a, b map[string]any) int { return strings.Compare(text(t, a), text(t, b)) }
	slices.SortFunc(want.Diagnostics, byText)
	slices.SortFunc(got, byText)
	if diff := cmp.Diff(want.Diagnostics, got); diff != "" {
		t.Errorf("JSON differs (-terraform +towline):\n%s", diff)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
