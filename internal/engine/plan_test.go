package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

func TestConvergesAndStaysConverged(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]string{
		"references through every kind of object": {
			"main.tf": `
variable "n" { default = 3 }
locals { names = [for i in range(var.n) : "x${i}"] }
resource "terraform_data" "a" {
  count = var.n
  input = local.names[count.index]
}
resource "terraform_data" "b" {
  for_each = toset(local.names)
  input    = { key = each.key, ids = terraform_data.a[*].id }
}
module "m" {
  source   = "./m"
  for_each = { p = 1, q = 2 }
  in       = "${each.key}-${terraform_data.b["x0"].output.key}"
  number   = each.value
}
output "all" { value = { for k, m in module.m : k => m.out } }
output "one" { value = module.m["p"].out }
`,
			"m/m.tf": `
variable "in" { type = string }
variable "number" { type = number }
resource "terraform_data" "this" {
  count = var.number
  input = var.in
}
output "out" { value = join(",", terraform_data.this[*].output) }
`,
		},
		"correlated instances": {"main.tf": `
resource "terraform_data" "a" {
  count = 50
  input = count.index
}
resource "terraform_data" "b" {
  count = 50
  input = terraform_data.a[count.index].id
}
output "all" { value = length(distinct(terraform_data.b[*].output)) }
`},
	}
	for name, files := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.write(files)
			b.mustApply(engine.PlanOptions{})
			plan := b.mustPlan(engine.PlanOptions{})
			b.wantActions(plan)
			if plan.Applyable() {
				t.Error("a plan after an apply is not empty")
			}
			b.mustApply(engine.PlanOptions{Mode: plans.DestroyMode})
			if !b.state.Empty() {
				t.Errorf("state is not empty after destroy: %d objects", b.state.Count())
			}
		})
	}
}

func TestModuleOutputValues(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write(map[string]string{
		"main.tf": `
module "m" {
  source = "./m"
  count  = 2
  name   = "n${count.index}"
}
output "names" { value = module.m[*].name }
output "second" { value = module.m[1].name }
`,
		"m/m.tf": `
variable "name" {}
output "name" { value = upper(var.name) }
`})
	b.mustApply(engine.PlanOptions{})
	want := cty.TupleVal([]cty.Value{cty.StringVal("N0"), cty.StringVal("N1")})
	if got := b.output("names"); !got.RawEquals(want) {
		t.Errorf("got %#v", got)
	}
	if got := b.output("second"); !got.RawEquals(cty.StringVal("N1")) {
		t.Errorf("got %#v", got)
	}
}

func TestOrderOfReplacement(t *testing.T) {
	t.Parallel()
	const config = `
resource "terraform_data" "a" {
  triggers_replace = "%[1]s"
  %[2]s
}
resource "terraform_data" "b" {
  triggers_replace = terraform_data.a.id
  %[3]s
}
resource "terraform_data" "c" {
  triggers_replace = terraform_data.b.id
}
`
	const cbd = "lifecycle {\n create_before_destroy = true\n }"
	tests := map[string]struct {
		a, b string
		// want are sequences that must appear in this order.
		want []string
	}{
		"destroyed first": {want: []string{"delete c, delete b, delete a, create a, create b, create c"}},
		"created first spreads to what is needed": {b: cbd, want: []string{
			"create a, create b, create c, delete b, delete a", "delete c, create c"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.write(map[string]string{"main.tf": fmt.Sprintf(config, "1", test.a, test.b)})
			b.mustApply(engine.PlanOptions{})
			b.log.take()
			b.write(map[string]string{"main.tf": fmt.Sprintf(config, "2", test.a, test.b)})
			b.mustApply(engine.PlanOptions{})
			got := strings.ReplaceAll(strings.Join(b.log.take(), ", "), "terraform_data.", "")
			for _, want := range test.want {
				if !inOrder(got, want) {
					t.Errorf("got %q, which does not have the order %q", got, want)
				}
			}
			b.wantActions(b.mustPlan(engine.PlanOptions{}))
		})
	}
}

// inOrder tells whether a list holds the entries of another in their order.
func inOrder(list, want string) bool {
	for _, entry := range strings.Split(want, ", ") {
		_, rest, ok := strings.Cut(list, entry)
		if !ok {
			return false
		}
		list = rest
	}
	return true
}

func TestOrphansAndReasons(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	module := "resource \"terraform_data\" \"x\" {}\n"
	b.write(map[string]string{"m/m.tf": module, "main.tf": `
resource "terraform_data" "count" { count = 3 }
resource "terraform_data" "each" { for_each = toset(["a", "b"]) }
resource "terraform_data" "gone" {}
resource "terraform_data" "mode" { count = 2 }
module "m" {
  source = "./m"
  count  = 2
}
`})
	b.mustApply(engine.PlanOptions{})
	b.write(map[string]string{"m/m.tf": module, "main.tf": `
resource "terraform_data" "count" { count = 1 }
resource "terraform_data" "each" { for_each = toset(["b"]) }
resource "terraform_data" "mode" { for_each = toset(["z"]) }
module "m" {
  source = "./m"
  count  = 1
}
`})
	plan := b.mustPlan(engine.PlanOptions{})
	got := map[string]plans.Reason{}
	for _, c := range plan.Changes {
		if c.Action == plans.Delete {
			got[c.Addr.String()] = c.Reason
		}
	}
	want := map[string]plans.Reason{
		"terraform_data.count[1]":      plans.DeleteBecauseCountIndex,
		"terraform_data.count[2]":      plans.DeleteBecauseCountIndex,
		`terraform_data.each["a"]`:     plans.DeleteBecauseEachKey,
		"terraform_data.gone":          plans.DeleteBecauseNoResource,
		"terraform_data.mode[0]":       plans.DeleteBecauseWrongRepetition,
		"terraform_data.mode[1]":       plans.DeleteBecauseWrongRepetition,
		"module.m[1].terraform_data.x": plans.DeleteBecauseNoModule,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	b.mustApply(engine.PlanOptions{})
	b.wantActions(b.mustPlan(engine.PlanOptions{}))
}

func TestImplicitMoveBetweenNoKeyAndZero(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write(map[string]string{"main.tf": `resource "terraform_data" "a" {}`})
	b.mustApply(engine.PlanOptions{})
	b.write(map[string]string{"main.tf": `
resource "terraform_data" "a" { count = 2 }`})
	plan := b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan, "create terraform_data.a[1]")
	if got := plan.Changes[0].PrevAddr.String(); got != "terraform_data.a" {
		t.Errorf("previous address is %s", got)
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write(map[string]string{"main.tf": `
resource "terraform_data" "a" { count = 2 }
resource "terraform_data" "b" {
  count = 2
  input = terraform_data.a[count.index].id
}
resource "terraform_data" "c" {}
`})
	targets := parseTargets(t, "terraform_data.b[1]")
	plan := b.mustPlan(engine.PlanOptions{Targets: targets})
	b.wantActions(plan, "create terraform_data.a[0]", "create terraform_data.a[1]", "create terraform_data.b[1]")
	b.mustApply(engine.PlanOptions{})
	plan = b.mustPlan(engine.PlanOptions{Mode: plans.DestroyMode, Targets: parseTargets(t, "terraform_data.a")})
	b.wantActions(plan, "delete terraform_data.a[0]", "delete terraform_data.a[1]", "delete terraform_data.b[0]", "delete terraform_data.b[1]")
}

func TestMistakesInConfiguration(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ config, want string }{
		"cycle":               {"locals {\n a = local.b\n b = local.a\n}", "Cycle: local.a, local.b"},
		"self":                {"resource \"terraform_data\" \"a\" {\n input = terraform_data.a.id\n}", "Self-referential block"},
		"undeclared variable": {`output "x" { value = var.nope }`, "Reference to undeclared input variable"},
		"undeclared resource": {`output "x" { value = terraform_data.nope.id }`, "Reference to undeclared resource"},
		"unknown type":        {`resource "terraform_nope" "a" {}`, "Invalid resource type"},
		"unknown argument":    {"resource \"terraform_data\" \"a\" {\n nope = 1\n}", "Unsupported argument"},
		"count is null":       {"resource \"terraform_data\" \"a\" {\n count = null\n}", "Invalid count argument"},
		"for_each is a list":  {"resource \"terraform_data\" \"a\" {\n for_each = [\"a\"]\n}", "Invalid for_each argument"},
		"count unknown":       {"resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n count = length(terraform_data.a.id)\n}", "Invalid count argument"},
		"required variable":   {`variable "x" {}`, "No value for required variable"},
		"bad default":         {"variable \"x\" {\n type = number\n default = \"a\"\n}", "Invalid default value for variable"},
		"validation":          {"variable \"x\" {\n default = 1\n validation {\n condition = var.x > 1\n error_message = \"Too small.\"\n }\n}", "Invalid value for variable"},
		"sensitive output":    {"variable \"x\" {\n default = 1\n sensitive = true\n}\noutput \"x\" { value = var.x }", "Output refers to sensitive values"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.write(map[string]string{"main.tf": test.config})
			config, diags := loadConfig(b.dir)
			if !diags.HasErrors() {
				plan, moreDiags := b.engine.Plan(t.Context(), config, b.state, engine.PlanOptions{})
				diags = append(diags, moreDiags...)
				if !plan.Errored {
					t.Error("plan is not marked as errored")
				}
			}
			if err := diags.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestSiblingsOfAnErrorArePlanned(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write(map[string]string{"main.tf": `
resource "terraform_data" "ok" {}
variable "x" { default = "x" }
resource "terraform_data" "bad" { input = tonumber(var.x) }
resource "terraform_data" "after" { input = terraform_data.bad.id }
`})
	plan, diags := b.plan(engine.PlanOptions{})
	if !diags.HasErrors() || !plan.Errored {
		t.Error("the error is not reported")
	}
	b.wantActions(plan, "create terraform_data.ok")
}

// Looking for what is wrong with the configuration starts no further process.
func TestFailedPlansStartNoOtherProvider(t *testing.T) {
	t.Parallel()
	starts := 0
	b := newBench(t, source{"cloud": func() providers.Interface {
		starts++
		return ephemeralCloud()
	}})
	b.write(map[string]string{"main.tf": "terraform {\n  required_providers {\n    cloud = { source = \"towline/cloud\" }\n  }\n}\n" +
		"variable \"x\" {\n  default = \"x\"\n}\nresource \"cloud_thing\" \"bad\" {\n  name = tonumber(var.x)\n}\nresource \"cloud_thing\" \"ok\" {}\n"})
	if _, diags := b.plan(engine.PlanOptions{}); !diags.HasErrors() {
		t.Error("the error is not reported")
	}
	if starts != 1 {
		t.Errorf("%d processes were started, want 1", starts)
	}
}

// What is wrong with the configuration itself is all that is told: nothing is planned.
func TestInvalidConfigurationsAreNotPlanned(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write(map[string]string{"main.tf": `
resource "terraform_data" "ok" {}
resource "terraform_data" "bad" { input = tonumber("x") }
variable "x" { default = "x" }
resource "terraform_data" "worse" { input = tonumber(var.x) }
`})
	plan, diags := b.plan(engine.PlanOptions{})
	if len(diags) != 1 || !plan.Errored || !plan.Refused {
		t.Errorf("got %v and a plan that is refused: %v; want one error", diags, plan.Refused)
	}
	b.wantActions(plan)
}
