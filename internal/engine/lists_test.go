package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// listBench is a bench with a provider that lists its things.
func listBench(t *testing.T, query string) (*bench, *providerstest.Provider) {
	t.Helper()
	b, fake := newFakeBench(t)
	fake.SchemaValue.Lists = providers.SchemaMap{thing: {Block: &providers.Block{Attributes: map[string]*providers.Attribute{
		"zone": {Type: cty.String, Optional: true},
	}}}}
	b.write(map[string]string{
		"main.tf":         "variable \"zone\" {\n  default = \"z\"\n}\nresource \"fake_thing\" \"a\" {\n  name = \"a\"\n}\n",
		"all.tfquery.hcl": query,
	})
	return b, fake
}

var everyList = func(string) bool { return true }

const listOfAll = "list \"fake_thing\" \"all\" {\n  provider = fake\n  config {\n    zone = var.zone\n  }\n}\n"

// listedIDs are the addresses and ids that a plan holds.
func listedIDs(plan *plans.Plan) []string {
	var out []string
	for _, listed := range plan.Listed {
		for _, found := range listed.Resources {
			out = append(out, listed.Addr+" "+found.Identity.GetAttr("id").AsString())
		}
	}
	return out
}

func TestListsAreAskedWhereSomebodyWantsToKnow(t *testing.T) {
	t.Parallel()
	b, fake := listBench(t, listOfAll)
	b.mustApply(engine.PlanOptions{})
	if calls := fake.Calls("ListResources"); len(calls) > 0 {
		t.Fatalf("nobody wants to know, and %v was asked", calls)
	}
	fake.SetObject(thing, "stranger", fake.Object(thing, fake.IDs(thing)[0]))
	plan := b.mustPlan(engine.PlanOptions{Lists: everyList})
	b.wantActions(plan)
	own := b.state.Object(instanceAddr(t, "fake_thing.a")).Decoded().Value.GetAttr("id").AsString()
	want := []string{"list.fake_thing.all " + own, "list.fake_thing.all stranger"}
	if got := listedIDs(plan); !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	req, ok := fake.Calls("ListResources")[0].Request.(providers.ListResourcesRequest)
	if !ok || !req.Config.RawEquals(cty.ObjectVal(map[string]cty.Value{"zone": cty.StringVal("z")})) || req.IncludeResource || req.Limit != 0 {
		t.Errorf("asked for %#v", req)
	}
}

func TestListsOfInstances(t *testing.T) {
	t.Parallel()
	b, fake := listBench(t, `
locals { zones = toset(["x", "y"]) }
list "fake_thing" "all" {
  provider         = fake
  for_each         = local.zones
  include_resource = true
  limit            = 1
  config { zone = "${each.key}${fake_thing.a.name}" }
}
`)
	b.mustApply(engine.PlanOptions{})
	plan, diags := b.plan(engine.PlanOptions{Lists: func(addr string) bool { return addr == `list.fake_thing.all["y"]` }})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	calls := fake.Calls("ListResources")
	if len(calls) != 1 || len(plan.Listed) != 1 || plan.Listed[0].Addr != `list.fake_thing.all["y"]` {
		t.Fatalf("%d calls, listed %+v", len(calls), plan.Listed)
	}
	req, _ := calls[0].Request.(providers.ListResourcesRequest)
	if req.Config.GetAttr("zone").AsString() != "ya" || !req.IncludeResource || req.Limit != 1 {
		t.Errorf("asked for %#v", req)
	}
	if got := plan.Listed[0].Resources[0].Resource.GetAttr("name").AsString(); got != "a" {
		t.Errorf("the object's name is %q", got)
	}
}

// TestListsThatAreFull are not all that there is.
func TestListsThatAreFull(t *testing.T) {
	t.Parallel()
	b, fake := listBench(t, strings.Replace(listOfAll, "provider", "limit = 1\n provider", 1))
	fake.ListHook = func(context.Context, providers.ListResourcesRequest) providers.ListResourcesResponse {
		return providers.ListResourcesResponse{Full: true}
	}
	_, diags := b.plan(engine.PlanOptions{Lists: everyList})
	if len(diags) != 1 || diags[0].Summary != "Perhaps not everything is listed" || diags[0].Severity != tfdiags.Warning || diags[0].Subject == nil {
		t.Errorf("got %+v", diags)
	}
}

// TestListsThatFail: a new revision fails with them, and one that runs goes on without
// knowing what there is.
func TestListsThatFail(t *testing.T) {
	t.Parallel()
	b, fake := listBench(t, listOfAll)
	b.mustApply(engine.PlanOptions{})
	fake.ListHook = func(context.Context, providers.ListResourcesRequest) providers.ListResourcesResponse {
		return providers.ListResourcesResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Access denied", "No.")}
	}
	if _, diags := b.plan(engine.PlanOptions{Lists: everyList}); !diags.HasErrors() || diags[0].Address != "list.fake_thing.all" {
		t.Errorf("got %+v", diags)
	}
	plan, diags := b.plan(engine.PlanOptions{Lists: everyList, LeaveUnreadable: true})
	if diags.HasErrors() || len(diags) != 1 || len(plan.Listed) != 1 || !plan.Listed[0].Unknown || len(plan.LeftAlone) > 0 {
		t.Errorf("got %+v and %+v", plan.Listed, diags)
	}
}

// TestListsOfWhatIsNotKnown are asked for once it is.
func TestListsOfWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	b, fake := listBench(t, strings.Replace(listOfAll, "var.zone", "fake_thing.a.id", 1))
	plan := b.mustPlan(engine.PlanOptions{Lists: everyList})
	if len(plan.Listed) != 1 || !plan.Listed[0].Unknown || len(fake.Calls("ListResources")) > 0 {
		t.Errorf("listed %+v", plan.Listed)
	}
	b.mustApply(engine.PlanOptions{})
	if plan = b.mustPlan(engine.PlanOptions{Lists: everyList}); len(listedIDs(plan)) != 1 {
		t.Errorf("listed %+v", plan.Listed)
	}
}

// TestListsAreAskedAgainByReplays: what they answer changes nothing in the rest of a plan.
func TestListsAreAskedAgainByReplays(t *testing.T) {
	t.Parallel()
	b, fake := listBench(t, listOfAll)
	b.mustApply(engine.PlanOptions{})
	config := b.load()
	plan := func(opts engine.PlanOptions) *plans.Plan {
		plan, diags := b.engine.Plan(t.Context(), config, b.state, opts)
		if diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		return plan
	}
	first := plan(engine.PlanOptions{Lists: everyList})
	fake.SetObject(thing, "stranger", fake.Object(thing, fake.IDs(thing)[0]))
	second := plan(engine.PlanOptions{Lists: everyList})
	if !replayed(second, first) || len(listedIDs(first)) != 1 || len(listedIDs(second)) != 2 {
		t.Errorf("replayed: %v, listed %q and then %q", replayed(second, first), listedIDs(first), listedIDs(second))
	}
	if third := plan(engine.PlanOptions{}); replayed(third, second) || len(third.Listed) > 0 {
		t.Errorf("nobody wants to know, and it holds %q", listedIDs(third))
	}
	if fourth := plan(engine.PlanOptions{Lists: everyList}); len(listedIDs(fourth)) != 2 {
		t.Errorf("listed %q", listedIDs(fourth))
	}
	fake.ListHook = func(context.Context, providers.ListResourcesRequest) providers.ListResourcesResponse {
		return providers.ListResourcesResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Access denied", "No.")}
	}
	if _, diags := b.engine.Plan(t.Context(), config, b.state, engine.PlanOptions{Lists: everyList}); !diags.HasErrors() {
		t.Error("a listing that failed was taken for the last one")
	}
}

func TestListsAreValidated(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ query, summary, detail string }{
		"type":     {strings.Replace(listOfAll, `"fake_thing"`, `"fake_thin"`, 1), "Invalid list resource", `does not list objects of type "fake_thin". Did you mean "fake_thing"?`},
		"variable": {strings.Replace(listOfAll, "var.zone", "var.none", 1), "Reference to undeclared input variable", "var.none"},
		"resource": {strings.Replace(listOfAll, "var.zone", "fake_thing.none.id", 1), "Reference to undeclared resource", "fake_thing.none"},
		"argument": {strings.Replace(listOfAll, "zone = ", "zonk = ", 1), "Unsupported argument", "zonk"},
		"alias":    {strings.Replace(listOfAll, "= fake", "= fake.west", 1), "Provider configuration not present", "list.fake_thing.all wants"},
		"limit":    {strings.Replace(listOfAll, "provider", "limit = 0\n  provider", 1), "Invalid limit argument", "from 1 to 10000"},
		"bad":      {strings.Replace(listOfAll, "var.zone", `"bad"`, 1), "Bad zone", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, fake := listBench(t, test.query)
			fake.ValidateHook = func(kind, _ string, config cty.Value) tfdiags.Diagnostics {
				if zone := cty.StringVal("bad"); kind == "list" && config.GetAttr("zone").RawEquals(zone) {
					return tfdiags.New(tfdiags.Error, "Bad zone", "")
				}
				return nil
			}
			diags := b.engine.Validate(t.Context(), b.load())
			if len(diags) != 1 || diags[0].Summary != test.summary || !strings.Contains(diags[0].Detail, test.detail) {
				t.Errorf("got %+v\nwant %q with %q", diags, test.summary, test.detail)
			}
		})
	}
}

func TestProvidersWithoutLists(t *testing.T) {
	t.Parallel()
	b, fake := listBench(t, listOfAll)
	fake.SchemaValue.Lists = providers.SchemaMap{}
	diags := b.engine.Validate(t.Context(), b.load())
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "offers no list resources") {
		t.Errorf("got %+v", diags)
	}
}
