package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

const belowFrozen = `
resource "fake_thing" "frozen" {
  for_each = toset(["a", "b"])
  name     = each.key
}
resource "fake_thing" "user" { name = "${fake_thing.frozen["a"].id}-user" }
resource "fake_thing" "second" {
  name       = "second"
  depends_on = [fake_thing.user]
}
data "fake_data" "d" { of = fake_thing.frozen["a"].id }
resource "fake_thing" "free" { name = "free" }
output "id" { value = fake_thing.frozen["a"].id }
output "read" { value = data.fake_data.d.result }
output "free" { value = fake_thing.free.name }
`

func frozen(t *testing.T, names ...string) engine.PlanOptions {
	t.Helper()
	return engine.PlanOptions{Frozen: func(addr addrs.ResourceInstance) bool { return slices.Contains(names, addr.String()) }}
}

// TestWaitsForFrozen freezes an object that does not exist: what depends on it waits, also
// what does not need its values, and everything else is made.
func TestWaitsForFrozen(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": belowFrozen})
	fake.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		if !req.Config.IsWhollyKnown() {
			t.Errorf("a configuration with unknown values is applied: %#v", req.Config)
		}
		return fake.ApplyDefault(req)
	}
	for _, want := range [][]string{{"create fake_thing.free", `create fake_thing.frozen["b"]`}, nil} {
		plan := b.mustPlan(frozen(t, `fake_thing.frozen["a"]`))
		b.wantActions(plan, want...)
		if got, want := names(plan.Waiting), []string{"data.fake_data.d", "fake_thing.second", "fake_thing.user"}; !slices.Equal(got, want) {
			t.Errorf("%q wait, want %q", got, want)
		}
		if got := names(plan.Awaited); !slices.Equal(got, []string{`fake_thing.frozen["a"]`}) || plan.Complete {
			t.Errorf("they wait for %q; complete: %t", got, plan.Complete)
		}
		if diags := b.applyPlan(plan); diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		if _, has := b.state.Outputs["id"]; has || b.output("free").AsString() != "free" {
			t.Errorf("outputs %+v", b.state.Outputs)
		}
	}
	plan := b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan, "read data.fake_data.d", `create fake_thing.frozen["a"]`, "create fake_thing.second", "create fake_thing.user")
	if diags := b.applyPlan(plan); diags.HasErrors() || len(plan.Waiting)+len(plan.Awaited) > 0 {
		t.Errorf("%v; %q wait", diags.Err(), names(plan.Waiting))
	}
}

// TestWaitingKeepsWhatItNeeds: what an object was made from stays while its own change
// waits, though nobody declares it any more.
func TestWaitingKeepsWhatItNeeds(t *testing.T) {
	t.Parallel()
	b, _ := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "old" { name = "old" }
resource "fake_thing" "user" { name = "${fake_thing.old.name}-user" }
`})
	b.mustApply(engine.PlanOptions{})
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "new" { name = "new" }
resource "fake_thing" "user" { name = "${fake_thing.new.id}-user" }
`})
	plan := b.mustPlan(frozen(t, "fake_thing.new"))
	b.wantActions(plan)
	if got := names(plan.Waiting); !slices.Equal(got, []string{"fake_thing.old", "fake_thing.user"}) {
		t.Errorf("%q wait", got)
	}
	b.mustApply(engine.PlanOptions{})
	if got := b.state.Count(); got != 2 {
		t.Errorf("%d objects at the end, want 2", got)
	}
}

// TestWaitingKeepsWhatIsReplaced: an object that is used is not taken away under its user,
// whose change waits, also if a new one stands in its place.
func TestWaitingKeepsWhatIsReplaced(t *testing.T) {
	t.Parallel()
	const config = `
resource "fake_thing" "old" {
  zone = "%s"
  lifecycle { create_before_destroy = true }
}
resource "fake_thing" "by_old" { name = "by-${fake_thing.old.id}" }
resource "fake_thing" "free" { name = "free-%[1]s" }
`
	b, _ := newFakeBench(t)
	b.write(map[string]string{"main.tf": fmt.Sprintf(config, "1") + `resource "fake_thing" "user" { name = "${fake_thing.old.id}-user" }`})
	b.mustApply(engine.PlanOptions{})
	b.write(map[string]string{"main.tf": fmt.Sprintf(config, "2") + `
resource "fake_thing" "new" { name = "new" }
resource "fake_thing" "user" { name = "${fake_thing.old.id}-${fake_thing.new.id}-user" }
`})
	plan := b.mustPlan(frozen(t, "fake_thing.new"))
	b.wantActions(plan, "update fake_thing.free")
	if got, want := names(plan.Waiting), []string{"fake_thing.by_old", "fake_thing.old", "fake_thing.user"}; !slices.Equal(got, want) {
		t.Errorf("%q wait, want %q", got, want)
	}
	if diags := b.applyPlan(plan); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	plan = b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan, "update fake_thing.by_old", "create fake_thing.new", "create-delete fake_thing.old", "update fake_thing.user")
	if diags := b.applyPlan(plan); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
}

// TestWaitsAcrossModules: what waits may be reached by an argument and an output of a module,
// by depends_on of a module call, and by the configuration of a provider.
func TestWaitsAcrossModules(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
provider "fake" {
  alias  = "by_id"
  region = fake_thing.new.id
}
resource "fake_thing" "new" { name = "new" }
resource "fake_thing" "elsewhere" {
  provider = fake.by_id
  name     = "elsewhere"
}
module "by_value" {
  source = "./child"
  name   = fake_thing.new.id
}
module "afterwards" {
  source     = "./child"
  name       = "afterwards"
  depends_on = [fake_thing.new]
}
module "free" {
  source = "./child"
  name   = "free"
}
resource "fake_thing" "last" { name = "${module.by_value.name}-last" }
resource "fake_thing" "constant" { name = "${module.by_value.constant}-last" }
`, "child/main.tf": `
variable "name" { type = string }
resource "fake_thing" "t" { name = var.name }
resource "fake_thing" "own" { name = "own" }
output "name" { value = fake_thing.t.name }
output "constant" { value = fake_thing.own.name }
`})
	fake.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		if !req.Config.IsWhollyKnown() {
			t.Errorf("a configuration with unknown values is applied: %#v", req.Config)
		}
		return fake.ApplyDefault(req)
	}
	plan := b.mustPlan(frozen(t, "fake_thing.new"))
	b.wantActions(plan, "create fake_thing.constant", "create module.by_value.fake_thing.own", "create module.free.fake_thing.own", "create module.free.fake_thing.t")
	want := []string{"fake_thing.elsewhere", "fake_thing.last", "module.afterwards.fake_thing.own", "module.afterwards.fake_thing.t", "module.by_value.fake_thing.t"}
	if got := names(plan.Waiting); !slices.Equal(got, want) {
		t.Errorf("%q wait, want %q", got, want)
	}
	if diags := b.applyPlan(plan); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	b.mustApply(engine.PlanOptions{})
	b.wantActions(b.mustPlan(engine.PlanOptions{}))
}

// TestWaitsForFrozenThatIsGone: an object that was removed by hand and is not to be made
// again counts as one that does not exist.
func TestWaitsForFrozenThatIsGone(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "gone" { name = "gone" }
resource "fake_thing" "user" { name = "${fake_thing.gone.id}-user" }
`})
	b.mustApply(engine.PlanOptions{})
	for _, id := range fake.IDs(thing) {
		if fake.Object(thing, id).GetAttr("name").AsString() == "gone" {
			fake.SetObject(thing, id, cty.NilVal)
		}
	}
	plan := b.mustPlan(frozen(t, "fake_thing.gone"))
	b.wantActions(plan)
	if got := names(plan.Waiting); !slices.Equal(got, []string{"fake_thing.user"}) {
		t.Errorf("%q wait", got)
	}
	if diags := b.applyPlan(plan); diags.HasErrors() {
		t.Error(diags.Err())
	}
}

// TestUnknownConfigIsNotApplied takes the creation of an object out of a plan: what is
// made from it is neither created, updated nor read, and has no intent.
func TestUnknownConfigIsNotApplied(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "updated" { name = "updated" }
`})
	b.mustApply(engine.PlanOptions{})
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "missing" { name = "missing" }
resource "fake_thing" "created" { name = "${fake_thing.missing.id}-created" }
resource "fake_thing" "updated" {
  name = "updated"
  tags = { of = fake_thing.missing.id }
}
data "fake_data" "d" { of = fake_thing.missing.id }
`})
	plan := b.mustPlan(engine.PlanOptions{})
	plan.Changes = slices.DeleteFunc(plan.Changes, func(c *plans.Change) bool { return c.Addr.Resource.Name == "missing" })
	fake.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		t.Errorf("the provider is asked to apply %#v", req.Config)
		return fake.ApplyDefault(req)
	}
	fake.DataHook = func(_ context.Context, req providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
		t.Errorf("the provider is asked to read %#v", req.Config)
		return providers.ReadDataSourceResponse{State: cty.NilVal}
	}
	diags := b.applyPlan(plan)
	for addr, attr := range map[string]string{"fake_thing.created": "name", "fake_thing.updated": "tags", "data.fake_data.d": "of"} {
		want := "The configuration of " + addr + " has values that are not known even now, in " + attr + ": they come from something that does not exist and was not made by this plan."
		found := false
		for _, d := range diags {
			found = found || d.Summary == "Configuration contains unknown value" && d.Address == addr && strings.HasPrefix(d.Detail, want)
		}
		if !found {
			t.Errorf("no refusal for %s: %v", addr, diags.Err())
		}
	}
}
