package guard_test

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

func addr(t *testing.T, text string) addrs.ResourceInstance {
	t.Helper()
	a, diags := addrs.ParseResourceInstance(text)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return a
}

func scopes(include ...string) []control.Scope {
	s := control.Scope{Name: "s", Drift: control.Drift{Mode: control.DriftEnforce}}
	for _, pattern := range include {
		s.Include = append(s.Include, control.Match{Address: pattern})
	}
	return []control.Scope{s}
}

// TestNothingOutsideTheScopesIsEverApproved is the guard's promise over random plans.
func TestNothingOutsideTheScopesIsEverApproved(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(1))
	types, names := []string{"a_x", "a_y", "b_x"}, []string{"one", "two", "three"}
	patterns := []string{"a_*.*", "b_x.one", "*.two", "a_x.three", "**"}
	all := []plans.Action{plans.NoOp, plans.Read, plans.Create, plans.Update, plans.Delete, plans.DeleteThenCreate, plans.CreateThenDelete}
	for range 2000 {
		set := scopes(patterns[rng.Intn(len(patterns))])
		set[0].Exclude = []control.Match{{Type: types[rng.Intn(len(types))], Address: "*." + names[rng.Intn(len(names))]}}
		limit := rng.Intn(4)
		set[0].MaxDeletes = &limit
		set[0].Actions = []control.Action{control.ActionCreate, control.ActionUpdate, control.ActionDelete}[:1+rng.Intn(3)]
		plan := &plans.Plan{}
		for range rng.Intn(5) {
			plan.Changes = append(plan.Changes, &plans.Change{Addr: addr(t, types[rng.Intn(3)]+"."+names[rng.Intn(3)]), Action: all[rng.Intn(len(all))]})
		}
		approved, diags := guard.Check(plan, guard.Rules{Scopes: set}, guard.Circumstances{})
		if (approved.Plan() == nil) != diags.HasErrors() {
			t.Fatal("refused without a reason, or approved with one")
		}
		if approved.Plan() == nil {
			continue
		}
		deletes := 0
		for _, c := range plan.Changes {
			actions := guard.ActionsOf(c.Action)
			if len(actions) > 0 && guard.ScopeOf(set, guard.ObjectOf(c.Addr, c.Provider)) == nil {
				t.Fatalf("%s of %s was approved outside the scope", c.Action, c.Addr)
			}
			for _, a := range actions {
				if !slices.Contains(set[0].Actions, a) {
					t.Fatalf("%s was approved though not allowed", a)
				}
			}
			if slices.Contains(actions, control.ActionDelete) {
				deletes++
			}
		}
		if deletes > limit {
			t.Fatalf("%d deletes were approved, limit %d", deletes, limit)
		}
	}
}

func TestErroredPlanIsRefused(t *testing.T) {
	t.Parallel()
	if approved, diags := guard.Check(&plans.Plan{Errored: true}, guard.Rules{Scopes: scopes("**")}, guard.Circumstances{}); approved.Plan() != nil || !diags.HasErrors() {
		t.Error("an incomplete plan was approved")
	}
}

var schema = &providers.Block{Attributes: map[string]*providers.Attribute{
	"id": {Type: cty.String, Computed: true}, "size": {Type: cty.Number, Optional: true}, "tags": {Type: cty.Map(cty.String), Optional: true},
	"note": {Type: cty.String, Optional: true, Computed: true}, "seen": {Type: cty.String, Computed: true},
}}

func object(id string, size int64, tags map[string]cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id), "size": cty.NumberIntVal(size), "tags": cty.MapVal(tags),
		"note": cty.NullVal(cty.String), "seen": cty.NullVal(cty.String)})
}

func with(o cty.Value, name, value string) cty.Value {
	vals := o.AsValueMap()
	vals[name] = cty.StringVal(value)
	return cty.ObjectVal(vals)
}

func withNote(o cty.Value, note string) cty.Value { return with(o, "note", note) }

func withSeen(o cty.Value, seen string) cty.Value { return with(o, "seen", seen) }

// TestQuietChangesNeedAScopeToo: what changes no real object changes who keeps it.
func TestQuietChangesNeedAScopeToo(t *testing.T) {
	t.Parallel()
	set := scopes("x_y.*")
	tests := map[string]struct {
		change plans.Change
		want   bool
	}{
		"forget inside":         {plans.Change{Addr: addr(t, "x_y.a"), PrevAddr: addr(t, "x_y.a"), Action: plans.Forget}, true},
		"forget outside":        {plans.Change{Addr: addr(t, "q_r.a"), PrevAddr: addr(t, "q_r.a"), Action: plans.Forget}, false},
		"moved in from outside": {plans.Change{Addr: addr(t, "x_y.a"), PrevAddr: addr(t, "q_r.a"), Action: plans.NoOp}, false},
		"moved out":             {plans.Change{Addr: addr(t, "q_r.a"), PrevAddr: addr(t, "x_y.a"), Action: plans.NoOp}, false},
		"moved inside":          {plans.Change{Addr: addr(t, "x_y.a"), PrevAddr: addr(t, "x_y.b"), Action: plans.NoOp}, true},
		"imported outside":      {plans.Change{Addr: addr(t, "q_r.a"), PrevAddr: addr(t, "q_r.a"), Action: plans.NoOp, Importing: "i"}, false},
		"unchanged outside":     {plans.Change{Addr: addr(t, "q_r.a"), PrevAddr: addr(t, "q_r.a"), Action: plans.NoOp}, true},
		"read of a data source": {plans.Change{Addr: addr(t, "data.q_r.a"), PrevAddr: addr(t, "data.q_r.a"), Action: plans.Read}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			approved, diags := guard.Check(&plans.Plan{Changes: []*plans.Change{&test.change}}, guard.Rules{Scopes: set}, guard.Circumstances{})
			if got := approved.Plan() != nil; got != test.want {
				t.Errorf("approved: %v, %v", got, diags.Err())
			}
		})
	}
}
