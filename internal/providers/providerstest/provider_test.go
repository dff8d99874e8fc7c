package providerstest_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

var thing = &providers.Block{Attributes: map[string]*providers.Attribute{
	"id":     {Type: cty.String, Computed: true},
	"name":   {Type: cty.String, Required: true},
	"size":   {Type: cty.Number, Optional: true},
	"secret": {Type: cty.String, Optional: true, WriteOnly: true},
}}

func newProvider(t *testing.T) *providerstest.Provider {
	t.Helper()
	p := providerstest.New(&providers.Schema{
		Provider:      &providers.Block{},
		ResourceTypes: providers.SchemaMap{"test_thing": {Block: thing}},
		DataSources:   providers.SchemaMap{"test_thing": {Block: thing}},
	})
	p.ForceNew = map[string][]string{"test_thing": {"name"}}
	return p
}

func configure(t *testing.T, p *providerstest.Provider) {
	t.Helper()
	mustPass(t, p.Configure(t.Context(), cty.EmptyObjectVal))
}

func mustPass(t *testing.T, diags tfdiags.Diagnostics) {
	t.Helper()
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
}

func object(id, name, secret cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": id, "name": name, "size": cty.NullVal(cty.Number), "secret": secret})
}

var nothing = cty.NullVal(cty.String)

func TestLifeOfAnObject(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	configure(t, p)
	config := object(nothing, cty.StringVal("a"), cty.StringVal("pw"))
	null := cty.NullVal(thing.ImpliedType())

	plan := p.PlanResourceChange(t.Context(), providers.PlanResourceChangeRequest{
		TypeName: "test_thing", PriorState: null, Config: config, ProposedNewState: config,
	})
	mustPass(t, plan.Diagnostics)
	if want := object(cty.UnknownVal(cty.String), cty.StringVal("a"), nothing); !plan.PlannedState.RawEquals(want) {
		t.Fatalf("planned %#v, want %#v", plan.PlannedState, want)
	}
	applied := p.ApplyResourceChange(t.Context(), providers.ApplyResourceChangeRequest{
		TypeName: "test_thing", PriorState: null, PlannedState: plan.PlannedState, Config: config,
	})
	mustPass(t, applied.Diagnostics)
	created := object(cty.StringVal("test_thing-1"), cty.StringVal("a"), nothing)
	if !applied.NewState.RawEquals(created) {
		t.Fatalf("created %#v, want %#v", applied.NewState, created)
	}

	renamed := object(nothing, cty.StringVal("b"), nothing)
	plan = p.PlanResourceChange(t.Context(), providers.PlanResourceChangeRequest{
		TypeName: "test_thing", PriorState: created, Config: renamed, ProposedNewState: object(cty.StringVal("test_thing-1"), cty.StringVal("b"), nothing),
	})
	mustPass(t, plan.Diagnostics)
	if len(plan.RequiresReplace) != 1 {
		t.Errorf("a rename requires replacement of %v, want the name", plan.RequiresReplace)
	}

	p.SetObject("test_thing", "test_thing-1", object(cty.StringVal("test_thing-1"), cty.StringVal("drifted"), nothing))
	read := p.ReadResource(t.Context(), providers.ReadResourceRequest{TypeName: "test_thing", PriorState: created})
	mustPass(t, read.Diagnostics)
	if read.Unchanged || read.NewState.GetAttr("name").AsString() != "drifted" {
		t.Errorf("read %#v, unchanged %v", read.NewState, read.Unchanged)
	}
	applied = p.ApplyResourceChange(t.Context(), providers.ApplyResourceChangeRequest{
		TypeName: "test_thing", PriorState: created, PlannedState: null, Config: null,
	})
	mustPass(t, applied.Diagnostics)
	if ids := p.IDs("test_thing"); len(ids) != 0 {
		t.Errorf("objects %v are left", ids)
	}
	read = p.ReadResource(t.Context(), providers.ReadResourceRequest{TypeName: "test_thing", PriorState: created})
	if !read.NewState.IsNull() {
		t.Errorf("a deleted object reads as %#v", read.NewState)
	}
	if got := len(p.Calls("PlanResourceChange", "ApplyResourceChange")); got != 4 {
		t.Errorf("%d calls recorded, want 4", got)
	}
}

func TestWrongCallsAreRefused(t *testing.T) {
	t.Parallel()
	good := object(nothing, cty.StringVal("a"), nothing)
	read := func(v cty.Value) func(*providerstest.Provider) tfdiags.Diagnostics {
		return func(p *providerstest.Provider) tfdiags.Diagnostics {
			return p.ReadResource(t.Context(), providers.ReadResourceRequest{TypeName: "test_thing", PriorState: v}).Diagnostics
		}
	}
	tests := map[string]struct {
		configured bool
		call       func(*providerstest.Provider) tfdiags.Diagnostics
	}{
		"before Configure": {false, read(good)},
		"marks":            {true, read(good.Mark("m"))},
		"wrong type":       {true, read(cty.EmptyObjectVal)},
		"no value":         {true, read(cty.NilVal)},
		"no such type": {true, func(p *providerstest.Provider) tfdiags.Diagnostics {
			return p.ValidateResourceConfig(t.Context(), "test_other", good)
		}},
		"unknown data": {true, func(p *providerstest.Provider) tfdiags.Diagnostics {
			return p.ReadDataSource(t.Context(), providers.ReadDataSourceRequest{TypeName: "test_thing", Config: object(nothing, cty.UnknownVal(cty.String), nothing)}).Diagnostics
		}},
		"after Close": {true, func(p *providerstest.Provider) tfdiags.Diagnostics {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			return read(good)(p)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			if test.configured {
				configure(t, p)
			}
			if diags := test.call(p); !diags.HasErrors() {
				t.Error("the call passed")
			}
		})
	}
}
