package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// TestMovesAreApplied moves objects through an apply: none is made or destroyed,
// and what depended on the old address depends on the new one.
func TestMovesAreApplied(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "a" { name = "a" }
resource "fake_thing" "user" { name = fake_thing.a.id }
`})
	b.mustApply(engine.PlanOptions{})
	ids := fake.IDs(thing)
	b.write(map[string]string{
		"main.tf": `
module "m" {
  source = "./m"
}
resource "fake_thing" "user" { name = module.m.id }
moved {
  from = fake_thing.a
  to   = module.m.fake_thing.old
}
`,
		"m/m.tf": `
resource "fake_thing" "new" { name = "a" }
moved {
  from = fake_thing.old
  to   = fake_thing.new
}
output "id" { value = fake_thing.new.id }
`,
	})
	plan := b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan)
	if !plan.Applyable() {
		t.Error("a plan that only moves is worth an apply")
	}
	b.log.take()
	b.mustApply(engine.PlanOptions{})
	if calls := b.log.take(); len(calls) > 0 {
		t.Errorf("the provider was called: %q", calls)
	}
	if got := fake.IDs(thing); !slices.Equal(got, ids) {
		t.Errorf("objects are %q, were %q", got, ids)
	}
	if b.state.Object(instanceAddr(t, "fake_thing.a")) != nil || b.state.Object(instanceAddr(t, "module.m.fake_thing.new")) == nil {
		t.Error("the object is not recorded at its new address")
	}
	if got := b.state.Object(instanceAddr(t, "fake_thing.user")).Dependencies; !slices.Equal(got, []string{"module.m.fake_thing.new"}) {
		t.Errorf("dependencies are %q", got)
	}
	if plan := b.mustPlan(engine.PlanOptions{}); plan.Applyable() {
		t.Error("the plan after it is not empty")
	}
}

// TestDestroyAfterMoveKeepsOrder destroys a dependent first although its record
// names the old address of what it depends on.
func TestDestroyAfterMoveKeepsOrder(t *testing.T) {
	t.Parallel()
	b, _ := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "z" { name = "z" }
resource "fake_thing" "user" { name = fake_thing.z.id }
`})
	b.mustApply(engine.PlanOptions{})
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "a" { name = "z" }
resource "fake_thing" "user" { name = fake_thing.a.id }
moved {
  from = fake_thing.z
  to   = fake_thing.a
}
`})
	b.log.take()
	b.mustApply(engine.PlanOptions{Mode: plans.DestroyMode})
	if got, want := b.log.take(), []string{"delete fake_thing.user", "delete fake_thing.a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestBlockedMoveIsNotMade leaves both objects where they are and says so.
func TestBlockedMoveIsNotMade(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write(map[string]string{"main.tf": `
resource "terraform_data" "x" { for_each = toset(["a b", "c"]) }
`})
	b.mustApply(engine.PlanOptions{})
	b.write(map[string]string{"main.tf": `
resource "terraform_data" "x" { for_each = toset(["c"]) }
moved {
  from = terraform_data.x["a b"]
  to   = terraform_data.x["c"]
}
`})
	plan, diags := b.plan(engine.PlanOptions{})
	b.wantActions(plan, `delete terraform_data.x["a b"]`)
	if len(diags) != 1 || diags.HasErrors() || !strings.Contains(diags[0].Detail, `- terraform_data.x["a b"] could not move to terraform_data.x["c"]`) {
		t.Errorf("got %v", diags)
	}
}

// TestMovesWithTargets wants both ends of a move among the targets.
func TestMovesWithTargets(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write(map[string]string{"main.tf": `resource "terraform_data" "a" {}`})
	b.mustApply(engine.PlanOptions{})
	b.write(map[string]string{"main.tf": `
resource "terraform_data" "b" {}
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
`})
	_, diags := b.plan(engine.PlanOptions{Targets: parseTargets(t, "terraform_data.b")})
	if !diags.HasErrors() || !strings.Contains(diags.Err().Error(), "Moved resource instances excluded by targeting") {
		t.Errorf("got %v", diags)
	}
	b.wantActions(b.mustPlan(engine.PlanOptions{Targets: parseTargets(t, "terraform_data.a", "terraform_data.b")}))
}

// TestMoveToAnotherType lets the provider convert an object, once, and keeps it.
func TestMoveToAnotherType(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": "resource \"terraform_data\" \"a\" {\n  input = \"name\"\n}\n"})
	b.mustApply(engine.PlanOptions{})
	calls := 0
	fake.MoveHook = func(_ context.Context, req providers.MoveResourceStateRequest) providers.MoveResourceStateResponse {
		calls++
		if req.SourceType != "terraform_data" || req.SourceProvider != "terraform.io/builtin/terraform" || !strings.Contains(string(req.SourceJSON), `"name"`) {
			t.Errorf("asked to move %s of %s: %s", req.SourceType, req.SourceProvider, req.SourceJSON)
		}
		state := fake.SchemaValue.ResourceTypes.Get(thing).Block.EmptyValue().AsValueMap()
		state["id"], state["name"] = cty.StringVal("moved"), cty.StringVal("name")
		return providers.MoveResourceStateResponse{TargetState: cty.ObjectVal(state), TargetPrivate: []byte("p")}
	}
	fake.ReadHook = func(_ context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
		return providers.ReadResourceResponse{NewState: req.PriorState, Private: req.Private}
	}
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "b" { name = "name" }
moved {
  from = terraform_data.a
  to   = fake_thing.b
}
`})
	plan := b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan)
	if c := plan.Changes[0]; c.PrevAddr.String() != "terraform_data.a" || c.Addr.String() != "fake_thing.b" || len(plan.Drift) > 0 {
		t.Errorf("planned %+v, drift %v", c, plan.Drift)
	}
	if diags := b.applyPlan(plan); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	r := b.state.Resources()[0]
	if obj := b.state.Object(instanceAddr(t, "fake_thing.b")); obj == nil || r.Provider.Provider.Type != "fake" || string(obj.Private) != "p" || obj.SchemaVersion != 1 {
		t.Errorf("recorded %+v by %s", obj, r.Provider)
	}
	b.wantActions(b.mustPlan(engine.PlanOptions{}))
	if calls != 1 {
		t.Errorf("the provider converted the object %d times", calls)
	}
}

// TestMoveFromNullResource is what the built-in provider can take over.
func TestMoveFromNullResource(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	obj := &states.Object{AttrsJSON: []byte(`{"id":"123","triggers":{"a":"b"}}`)}
	b.state.SetObject(instanceAddr(t, "null_resource.old"), addrs.ProviderConfig{Provider: addrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "null"}}, obj)
	b.write(map[string]string{"main.tf": `
resource "terraform_data" "new" {
  triggers_replace = { a = "b" }
}
moved {
  from = null_resource.old
  to   = terraform_data.new
}
`})
	plan := b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan)
	if got := plan.Changes[0].After.GetAttr("id").AsString(); got != "123" {
		t.Errorf("the object has become %q", got)
	}
}

// TestForgottenObjectsStayInTheCloud drops objects from the state without a call
// to the provider, and destroys the others.
func TestForgottenObjectsStayInTheCloud(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "kept" {
  count = 2
  name  = "kept"
}
resource "fake_thing" "gone" { name = fake_thing.kept[0].id }
`})
	b.mustApply(engine.PlanOptions{})
	b.write(map[string]string{"main.tf": `
removed {
  from = fake_thing.kept
  lifecycle {
    destroy = false
  }
}
removed {
  from = fake_thing.gone
}
`})
	fake.ResetCalls()
	plan := b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan, "delete fake_thing.gone", "forget fake_thing.kept[0]", "forget fake_thing.kept[1]")
	if got := plan.Count(); got != (plans.Counts{Destroy: 1}) {
		t.Errorf("counts are %+v", got)
	}
	if got := len(fake.Calls("ReadResource")); got != 1 {
		t.Errorf("%d objects were read, want only the one to be destroyed", got)
	}
	b.log.take()
	b.mustApply(engine.PlanOptions{})
	if got, want := b.log.take(), []string{"delete fake_thing.gone"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := len(fake.IDs(thing)); got != 2 || b.state.Count() != 0 {
		t.Errorf("the cloud has %d objects and the state %d", got, b.state.Count())
	}
}
