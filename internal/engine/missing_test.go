package engine_test

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
)

const needsPassword = `
variable "password" {}
variable "name" {}
locals { login = "root:${var.password}" }
module "inner" {
  source = "./inner"
  secret = local.login
}
resource "fake_thing" "direct" { name = "direct-${var.password}" }
resource "fake_thing" "after" { name = "after-${fake_thing.direct.id}" }
resource "fake_thing" "free" { name = var.name }
output "password" {
  value     = local.login
  sensitive = true
}
output "free" { value = fake_thing.free.name }
`

const innerOfPassword = `
variable "secret" {}
resource "fake_thing" "inside" { name = "inside-${var.secret}" }
resource "fake_thing" "without" { name = "without" }
`

// TestMissingVariable plans without the value of a variable: nothing is planned for what is
// computed from it, through locals, modules and other objects; the rest is planned as
// ever, and outputs keep what they had.
func TestMissingVariable(t *testing.T) {
	t.Parallel()
	b, _ := newFakeBench(t)
	b.write(map[string]string{"main.tf": needsPassword, "inner/main.tf": innerOfPassword})
	all := map[string]cty.Value{"password": cty.StringVal("old"), "name": cty.StringVal("free")}
	b.mustApply(engine.PlanOptions{Variables: all})

	missing := engine.PlanOptions{Variables: map[string]cty.Value{"name": cty.StringVal("other")}, Missing: []string{"password"}, LeaveUnreadable: true}
	plan := b.mustPlan(missing)
	if len(plan.LeftAlone) == 0 || plan.Complete || !slices.Equal(plan.Missing, []string{"password"}) {
		t.Errorf("left alone %q, complete: %t, missing %q", names(plan.LeftAlone), plan.Complete, plan.Missing)
	}
	for _, addr := range names(plan.LeftAlone) {
		if !slices.Contains([]string{"fake_thing.direct", "fake_thing.after", "module.inner.fake_thing.inside"}, addr) {
			t.Errorf("%s is left alone", addr)
		}
	}
	if plan.HasOutput("password") || !plan.HasOutput("free") {
		t.Errorf("outputs %+v", plan.Outputs)
	}
	for _, c := range plan.Changes {
		if c.Action != plans.NoOp && c.Addr.String() != "fake_thing.free" {
			t.Errorf("%s of %s is planned", c.Action, c.Addr)
		}
	}
	if diags := b.applyPlan(plan); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	if got := b.output("password"); got.AsString() != "root:old" {
		t.Error("the output has lost its value")
	}
	if got := b.output("free"); got.AsString() != "other" {
		t.Errorf("the other output is %#v", got)
	}
	all["name"] = cty.StringVal("other")
	b.wantActions(b.mustPlan(engine.PlanOptions{Variables: all, LeaveUnreadable: true}))
}
