package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const neighbours = `
resource "fake_thing" "broken" { name = "broken" }
resource "fake_thing" "user" { name = "${fake_thing.broken.name}-user" }
resource "fake_thing" "drifted" { name = "drifted" }
resource "terraform_data" "other" { input = fake_thing.drifted.name }
data "fake_data" "d" { of = "x" }
resource "fake_thing" "by_data" { name = data.fake_data.d.result }
output "broken" { value = fake_thing.broken.name }
output "other" { value = terraform_data.other.input }
`

// leavingBench has the neighbours applied, and breaks reads from then on.
func leavingBench(t *testing.T) (*bench, *providerstest.Provider) {
	t.Helper()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": neighbours})
	b.mustApply(engine.PlanOptions{})
	return b, fake
}

func brokenReads(fake *providerstest.Provider) {
	fake.ReadHook = func(_ context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
		resp := fake.ReadDefault(req)
		switch attrs := resp.NewState.AsValueMap(); attrs["name"].AsString() {
		case "broken":
			return providers.ReadResourceResponse{Diagnostics: tfdiags.New(tfdiags.Error, "No answer", "The API is down.")}
		case "drifted", "broken-user":
			attrs["tags"] = cty.MapVal(map[string]cty.Value{"by": cty.StringVal("hand")})
			resp.NewState, resp.Unchanged, resp.Encoded = cty.ObjectVal(attrs), false, nil
		}
		return resp
	}
}

func names(list []addrs.ResourceInstance) []string {
	var out []string
	for _, addr := range list {
		out = append(out, addr.String())
	}
	return out
}

// What cannot be read is left alone with all that depends on it; the rest is
// corrected.
func TestUnreadableIsLeftAlone(t *testing.T) {
	t.Parallel()
	b, fake := leavingBench(t)
	brokenReads(fake)
	if _, diags := b.plan(engine.PlanOptions{}); !diags.HasErrors() {
		t.Error("without being told so, a plan leaves an object alone")
	}
	plan := b.mustPlan(engine.PlanOptions{LeaveUnreadable: true})
	b.wantActions(plan, "update fake_thing.drifted")
	if got, want := names(plan.LeftAlone), []string{"fake_thing.broken", "fake_thing.user"}; !slices.Equal(got, want) || plan.Complete {
		t.Errorf("left alone %q, want %q", got, want)
	}
	if plan.HasOutput("broken") || !plan.HasOutput("other") {
		t.Errorf("outputs %+v", plan.Outputs)
	}
	before := b.state.Object(instanceAddr(t, "fake_thing.user"))
	if diags := b.applyPlan(plan); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	if got := b.state.Object(instanceAddr(t, "fake_thing.broken")); got == nil {
		t.Error("the object that cannot be read is no longer recorded")
	}
	if got := b.state.Object(instanceAddr(t, "fake_thing.user")); got == nil || before == nil {
		t.Error("what depends on it is no longer recorded")
	}
	if got := b.output("broken"); got.AsString() != "broken" {
		t.Errorf("its output has become %#v", got)
	}
	fake.ReadHook = nil
	b.wantActions(b.mustPlan(engine.PlanOptions{LeaveUnreadable: true}))
}

// What an object that cannot be read was made from stays, also if nobody declares
// either of them any more.
func TestLeftAloneKeepsWhatItNeeds(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "base" { name = "base" }
resource "fake_thing" "broken" {
  name       = "broken"
  depends_on = [fake_thing.base]
}
resource "fake_thing" "free" { name = "free" }
`})
	b.mustApply(engine.PlanOptions{})
	brokenReads(fake)
	b.write(map[string]string{"main.tf": "\n"})
	plan := b.mustPlan(engine.PlanOptions{LeaveUnreadable: true})
	b.wantActions(plan, "delete fake_thing.free")
	if diags := b.applyPlan(plan); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	if got := b.state.Count(); got != 2 {
		t.Errorf("%d objects are recorded, want 2", got)
	}
}

// A data source that cannot be read keeps its last answer.
func TestUnreadableDataIsLeftAlone(t *testing.T) {
	t.Parallel()
	b, fake := leavingBench(t)
	fake.DataHook = func(context.Context, providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
		return providers.ReadDataSourceResponse{Diagnostics: tfdiags.New(tfdiags.Error, "No answer", "The API is down.")}
	}
	plan := b.mustPlan(engine.PlanOptions{LeaveUnreadable: true})
	b.wantActions(plan)
	if got, want := names(plan.LeftAlone), []string{"data.fake_data.d"}; !slices.Equal(got, want) {
		t.Errorf("left alone %q, want %q", got, want)
	}
	if b.applyPlan(plan); b.state.Object(instanceAddr(t, "data.fake_data.d")) == nil {
		t.Error("its last answer is lost")
	}
}

// A provider that cannot be used leaves its own objects alone, and no others.
func TestUnusableProviderIsLeftAlone(t *testing.T) {
	t.Parallel()
	b, fake := leavingBench(t)
	fake.ConfigureHook = func(context.Context, cty.Value) tfdiags.Diagnostics {
		return tfdiags.FromError("Credentials expired", errors.New("log in again"))
	}
	b.write(map[string]string{"main.tf": "provider \"fake\" {\n  region = \"other\"\n}\n" + neighbours + "resource \"terraform_data\" \"new\" {}\n"})
	plan := b.mustPlan(engine.PlanOptions{LeaveUnreadable: true})
	b.wantActions(plan, "create terraform_data.new")
	if len(plan.LeftAlone) < 5 || !slices.Contains(names(plan.LeftAlone), "fake_thing.drifted") {
		t.Errorf("left alone %q", names(plan.LeftAlone))
	}
	if diags := b.applyPlan(plan); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	if got := b.state.Count(); got != 6 {
		t.Errorf("%d objects are recorded, want 6", got)
	}
}

// A second plan of the same round leaves alone what the first did, without a read.
func TestLeftAloneBefore(t *testing.T) {
	t.Parallel()
	b, fake := leavingBench(t)
	brokenReads(fake)
	first := b.mustPlan(engine.PlanOptions{LeaveUnreadable: true})
	second, diags := b.engine.Plan(t.Context(), b.load(), first.Prior, engine.PlanOptions{LeaveUnreadable: true, LeftAlone: first.LeftAlone, SkipRefresh: true})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	b.wantActions(second, "update fake_thing.drifted")
	if got, want := names(second.LeftAlone), names(first.LeftAlone); !slices.Equal(got, want) {
		t.Errorf("left alone %q, want %q", got, want)
	}
	if second.Mode != plans.NormalMode {
		t.Errorf("mode %q", second.Mode)
	}
}
