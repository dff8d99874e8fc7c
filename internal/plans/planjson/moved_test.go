package planjson_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

// movable is the configuration before moves, one object of each kind.
const movable = `
resource "terraform_data" "chain" {
  input = 1
}
resource "terraform_data" "stays" {}
resource "terraform_data" "taken" {}
resource "terraform_data" "lost" {}
resource "terraform_data" "updated" {
  input = terraform_data.chain.id
}
resource "terraform_data" "counted" {}
resource "terraform_data" "single" {
  count = 3
}
resource "terraform_data" "each" {
  count = 2
}
module "m" {
  source = "./m"
  count  = 2
}
module "one" {
  source = "./m"
}
output "o" {
  value = terraform_data.chain.id
}
`

const movableModule = `
resource "terraform_data" "in" {
  count = 2
}
resource "terraform_data" "out" {}
module "deep" {
  source = "../deep"
}
`

// moved is movable with everything at another address.
const moved = `
resource "terraform_data" "end" {
  input = 1
}
resource "terraform_data" "taken" {}
resource "terraform_data" "changed" {
  input            = terraform_data.end.id
  triggers_replace = 1
}
resource "terraform_data" "counted" {
  count = 2
}
resource "terraform_data" "single" {}
resource "terraform_data" "each" {
  for_each = toset(["a", "b"])
}
module "n" {
  source = "./m"
  count  = 2
}
module "list" {
  source = "./m"
  count  = 1
}
output "o" {
  value = terraform_data.end.id
}
moved {
  from = terraform_data.middle
  to   = terraform_data.end
}
moved {
  from = terraform_data.chain
  to   = terraform_data.middle
}
moved {
  from = terraform_data.stays
  to   = terraform_data.taken
}
moved {
  from = terraform_data.lost
  to   = terraform_data.nowhere
}
moved {
  from = terraform_data.updated
  to   = terraform_data.changed
}
moved {
  from = terraform_data.each[0]
  to   = terraform_data.each["a"]
}
moved {
  from = terraform_data.each[1]
  to   = terraform_data.each["b"]
}
moved {
  from = module.m
  to   = module.n
}
moved {
  from = module.one
  to   = module.list[0]
}
`

const movedModule = `
resource "terraform_data" "new" {
  count = 2
}
module "deep" {
  source = "../deep"
}
moved {
  from = terraform_data.in
  to   = terraform_data.new
}
moved {
  from = terraform_data.out
  to   = module.deep.terraform_data.out
}
`

func modules(inner, deep string) map[string]string {
	return map[string]string{"m/m.tf": inner, "deep/deep.tf": deep}
}

func moves(pairs ...string) string {
	var out strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		out.WriteString("moved {\n  from = " + pairs[i] + "\n  to   = " + pairs[i+1] + "\n}\n")
	}
	return out.String()
}

func declared(names ...string) string {
	var out strings.Builder
	for _, name := range names {
		out.WriteString("resource \"terraform_data\" \"" + name + "\" {}\n")
	}
	return out.String()
}

// TestMovedAsTerraform moves recorded objects and compares every document wholly.
func TestMovedAsTerraform(t *testing.T) {
	t.Parallel()
	before := step{config: movable, files: modules(movableModule, declared("in"))}
	after := step{config: moved, files: modules(movedModule, declared("in", "out"))}
	refreshed := after
	refreshed.args, refreshed.opts = []string{"-refresh-only"}, engine.PlanOptions{Mode: plans.RefreshOnlyMode}
	destroyed := after
	destroyed.args, destroyed.opts = []string{"-destroy"}, destroy()
	counted := "resource \"terraform_data\" \"b\" {\n  count = 2\n}\n"
	tests := map[string][]step{
		"everything":               {before, after, after},
		"only noticed":             {before, refreshed},
		"destroyed":                {before, destroyed},
		"only moves":               {{config: declared("a")}, {config: declared("b") + moves("terraform_data.a", "terraform_data.b")}, {config: declared("b")}},
		"move then count":          {{config: declared("a")}, {config: counted + moves("terraform_data.a", "terraform_data.b")}},
		"move to an index":         {{config: declared("a")}, {config: counted + moves("terraform_data.a", "terraform_data.b[1]")}, {config: declared("c") + moves("terraform_data.b[1]", "terraform_data.c")}},
		"key away":                 {{config: counted}, {config: declared("b") + moves("terraform_data.b[1]", "terraform_data.b")}},
		"taken by index":           {{config: counted}, {config: counted + moves("terraform_data.b[2]", "terraform_data.b[1]")}},
		"swap by a third":          {{config: declared("a", "b")}, {config: declared("a", "b") + moves("terraform_data.c", "terraform_data.d")}},
		"into and out of a module": {{config: declared("a") + "module \"m\" {\n  source = \"./m\"\n}\n", files: modules(declared("x"), "")}, {config: declared("y") + "module \"m\" {\n  source = \"./m\"\n}\n" + moves("terraform_data.a", "module.m.terraform_data.b", "module.m.terraform_data.x", "terraform_data.y"), files: modules(declared("b"), "")}},
		"target covers both ends":  {{config: declared("a", "z")}, {config: declared("b", "z") + moves("terraform_data.a", "terraform_data.b"), args: []string{"-target=terraform_data.a", "-target=terraform_data.b"}, opts: targets(t, "terraform_data.a", "terraform_data.b")}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, oracletest.New(t), steps)
		})
	}
}

// TestWrongMovesAsTerraform compares what is said of moved, removed and import blocks.
func TestWrongMovesAsTerraform(t *testing.T) {
	t.Parallel()
	counted := "resource \"terraform_data\" \"c\" {\n  count = 2\n}\n"
	module := "module \"m\" {\n  source = \"./m\"\n}\n"
	tests := map[string]struct{ before, after string }{
		"still declared":          {declared("a"), declared("a", "b") + moves("terraform_data.a", "terraform_data.b")},
		"instance still declared": {counted, counted + moves("terraform_data.c[1]", "terraform_data.c[5]")},
		"instance is no more":     {counted, counted + moves("terraform_data.c[7]", "terraform_data.c[1]")},
		"module still declared":   {module, module + moves("module.m", "module.x")},
		"module instance":         {module, module + moves("module.m", "module.m[0]")},
		"inside a module":         {module, module + moves("module.m.terraform_data.in", "terraform_data.out")},
		"redundant":               {declared("a"), declared("a") + moves("terraform_data.x", "terraform_data.x")},
		"two ways from":           {declared("x"), declared("a", "b") + moves("terraform_data.x", "terraform_data.a", "terraform_data.x", "terraform_data.b")},
		"two ways to":             {declared("x", "y"), declared("a") + moves("terraform_data.x", "terraform_data.a", "terraform_data.y", "terraform_data.a")},
		"circle":                  {declared("a"), declared("c") + moves("terraform_data.x", "terraform_data.y", "terraform_data.y", "terraform_data.x")},
		"circle of modules":       {declared("a"), moves("module.x", "module.y", "module.y", "module.x")},
		"removed still declared":  {declared("a"), declared("a") + removed("terraform_data.a", "false")},
		"removed module declared": {module, module + removed("module.m", "true")},
		"removed inside declared": {module, module + removed("module.m.terraform_data.in", "true")},
		"forgotten":               {declared("a", "b"), declared("b") + removed("terraform_data.a", "false")},
		"import for no instance":  {counted, counted + imports("terraform_data.c[7]", `"x"`)},
		"import for no resource":  {counted, counted + imports("terraform_data.q", `"x"`)},
		"import for no module":    {counted, counted + imports("module.q.terraform_data.c", `"x"`)},
		"import with empty id":    {counted, declared("a") + imports("terraform_data.a", `""`)},
		"import with null id":     {counted, declared("a") + imports("terraform_data.a", "null")},
		"import with unknown id":  {counted, declared("a", "b") + imports("terraform_data.a", "terraform_data.b.id")},
		"import without a key":    {declared("a"), counted + imports("terraform_data.c", `"x"`)},
		"import with undeclared":  {declared("a"), declared("b") + imports("terraform_data.b", "var.x")},
		"import twice":            {declared("a"), declared("b") + imports("terraform_data.b", `"x"`, "terraform_data.b", `"y"`)},
		"import each unknown":     {declared("a"), counted + declared("b") + "import {\n  for_each = toset([terraform_data.b.id])\n  to = terraform_data.c[0]\n  id = each.key\n}\n"},
		"taken":                   {declared("a", "b"), declared("b") + moves("terraform_data.a", "terraform_data.b")},
		"taken module":            {module + "module \"n\" {\n  source = \"./m\"\n}\n", module + moves("module.n", "module.m")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := oracletest.New(t)
			files := func(main string) map[string]string {
				return map[string]string{"main.tf": main, "m/m.tf": declared("in")}
			}
			b.Write(files(test.before))
			b.Init()
			b.Terraform("apply", "-input=false", "-auto-approve")
			b.Write(files(test.after))
			b.Init()
			stdout, stderr, _ := b.Run("plan", "-input=false", "-no-color")
			want := summaries.FindAllString(stdout+stderr, -1)
			var got []string
			for _, d := range b.Plan(engine.PlanOptions{}).Diags {
				got = append(got, d.Severity.String()+": "+strings.ReplaceAll(d.Summary, "Towline", "Terraform"))
			}
			if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare), cmpopts.EquateEmpty(), cmp.Transformer("lower", strings.ToLower)); diff != "" {
				t.Errorf("problems differ (-terraform +towline):\n%s", diff)
			}
		})
	}
}

var summaries = regexp.MustCompile(`(Error|Warning): [^\n]+`)
