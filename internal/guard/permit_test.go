package guard_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func randomObject(r *rand.Rand) cty.Value {
	if r.IntN(6) == 0 {
		return cty.NullVal(schema.ImpliedType())
	}
	tags := map[string]cty.Value{"a": cty.StringVal(one(r, "1", "2"))}
	if r.IntN(2) == 0 {
		tags["b"] = cty.StringVal(one(r, "1", "2"))
	}
	return withNote(object(one(r, "i", "j"), one(r, int64(1), 2), tags), one(r, "n", "m"))
}

func randomRules(r *rand.Rand) guard.Rules {
	set := scopes(one(r, "**", "x_y.*", "x_y.z", "q_r.*"))
	paths := []string{"size", "tags", `tags["a"]`, `tags["*"]`, "note", "*"}
	switch r.IntN(4) {
	case 0:
		set[0].Include[0].Attributes = []string{one(r, paths...), one(r, paths...)}
	case 1:
		set[0].Include[0].Except = []string{one(r, paths...)}
	case 2:
		set[0].IgnoreAttributes = []string{one(r, "**.size", "**.tags", `**.tags["a"]`)}
	}
	if r.IntN(3) == 0 {
		set[0].Exclude = []control.Match{{Address: one(r, "x_y.z", "x_y.w")}}
	}
	return guard.Rules{Scopes: set}
}

func randomGrants(r *rand.Rand) []guard.OpenGrant {
	var out []guard.OpenGrant
	for range r.IntN(3) {
		out = append(out, guard.OpenGrant{ID: "g", Scopes: []string{one(r, "s", "other")}, After: one(r, control.AfterRevert, control.AfterHold),
			Targets: []string{one(r, "**", "x_y.z", "x_y.z.size", "q_r.*", `x_y.*.tags["a"]`, "**.note")}})
	}
	return out
}

func randomPlan(t *testing.T, r *rand.Rand) *plans.Plan {
	t.Helper()
	plan := &plans.Plan{}
	for range 1 + r.IntN(3) {
		c := &plans.Change{Addr: addr(t, one(r, "x_y.z", "x_y.w", "q_r.z")), Before: randomObject(r), After: randomObject(r), Action: plans.Update}
		c.PrevAddr = c.Addr
		switch {
		case c.Before.IsNull() && c.After.IsNull():
			continue
		case c.Before.IsNull():
			c.Action = plans.Create
		case c.After.IsNull():
			c.Action = plans.Delete
		}
		plan.Changes = append(plan.Changes, c)
	}
	return plan
}

func circumstances(now time.Time) guard.Circumstances {
	return guard.Circumstances{Now: now, Schema: func(addrs.ResourceInstance) *providers.Block { return schema }}
}

// changedByHand lists what differs of two of this package's objects, told without
// the rules under test.
func changedByHand(before, after cty.Value) []string {
	var out []string
	for _, name := range []string{"size", "note"} {
		if !before.GetAttr(name).RawEquals(after.GetAttr(name)) {
			out = append(out, name)
		}
	}
	was, is := before.GetAttr("tags").AsValueMap(), after.GetAttr("tags").AsValueMap()
	for _, key := range []string{"a", "b"} {
		if a, b := was[key], is[key]; a != b && (a == cty.NilVal || b == cty.NilVal || !a.RawEquals(b)) {
			out = append(out, fmt.Sprintf("tags[%q]", key))
		}
	}
	return out
}

// ownedByHand tells whether a scope of randomRules owns a path, told without the
// rules under test.
func ownedByHand(s control.Scope, path string) bool {
	attribute, _, _ := strings.Cut(path, "[")
	names := func(p string) bool {
		return p == "*" || p == path || p == attribute || p == `tags["*"]` && strings.HasPrefix(path, "tags[")
	}
	m := s.Include[0]
	for _, p := range s.IgnoreAttributes {
		if p = p[strings.LastIndex(p, ".")+1:]; names(p) {
			return false
		}
	}
	return (len(m.Attributes) == 0 || slices.ContainsFunc(m.Attributes, names)) && !slices.ContainsFunc(m.Except, names)
}

// TestNothingUnownedIsEverPermitted goes through random changes as the engine would
// make them: none passes that changes what the scope does not own.
func TestNothingUnownedIsEverPermitted(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 2))
	permitted, refused := 0, 0
	for range 3000 {
		rules := randomRules(r)
		change := &plans.Change{Addr: addr(t, one(r, "x_y.z", "x_y.w", "q_r.z")), Action: plans.Update}
		approved, _ := guard.Check(&plans.Plan{}, rules, circumstances(start))
		before, after := randomObject(r), randomObject(r)
		if approved.Permit(change, schema, before, after).HasErrors() {
			refused++
			continue
		}
		permitted++
		if guard.ScopeOf(rules.Scopes, guard.ObjectOf(change.Addr, change.Provider)) == nil {
			t.Fatalf("a change of %s was permitted in %+v", change.Addr, rules.Scopes)
		}
		if before.IsNull() || after.IsNull() {
			if len(rules.Scopes[0].Include[0].Attributes) > 0 {
				t.Fatalf("an object was made or removed of which only %v is owned", rules.Scopes[0].Include[0].Attributes)
			}
			continue
		}
		for _, path := range changedByHand(before, after) {
			if !ownedByHand(rules.Scopes[0], path) {
				t.Fatalf("a change of %s was permitted in %+v", path, rules.Scopes[0])
			}
		}
	}
	if permitted < 300 || refused < 300 {
		t.Errorf("%d permitted, %d refused; the test says little", permitted, refused)
	}
}

// TestGrantNeverWidens: whatever a grant names, what is refused without it is
// refused with it, for the plan and for each call.
func TestGrantNeverWidens(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 3))
	narrowed := 0
	for range 3000 {
		rules := randomRules(r)
		granted := rules
		granted.Grants = randomGrants(r)
		plan := randomPlan(t, r)
		without, with := permittedCalls(plan, rules), permittedCalls(plan, granted)
		for i := range with {
			if with[i] && !without[i] {
				t.Fatalf("the grants %+v permit %s of %s, which %+v refuses", granted.Grants, plan.Changes[i].Action, plan.Changes[i].Addr, rules.Scopes)
			}
			if without[i] && !with[i] {
				narrowed++
			}
		}
		_, before := guard.Check(plan, rules, circumstances(start))
		_, after := guard.Check(plan, granted, circumstances(start))
		if before.HasErrors() && !after.HasErrors() {
			t.Fatalf("the grants %+v let a plan pass that %+v refuses", granted.Grants, rules.Scopes)
		}
	}
	if narrowed < 100 {
		t.Errorf("grants took away %d calls; the test says little", narrowed)
	}
}

// permittedCalls tells for each change of a plan whether its call would be permitted.
func permittedCalls(plan *plans.Plan, rules guard.Rules) []bool {
	approved, _ := guard.Check(&plans.Plan{}, rules, circumstances(start))
	var out []bool
	for _, c := range plan.Changes {
		out = append(out, !approved.Permit(c, schema, c.Before, c.After).HasErrors())
	}
	return out
}

func TestGrantHoldsOnlyInItsScopes(t *testing.T) {
	t.Parallel()
	rules := guard.Rules{Scopes: scopes("x_y.*"), Grants: []guard.OpenGrant{{ID: "g", Targets: []string{"**"}, Scopes: []string{"other"}}}}
	inside, outside := guard.ObjectOf(addr(t, "x_y.z"), addrs.ProviderConfig{}), guard.ObjectOf(addr(t, "q_r.z"), addrs.ProviderConfig{})
	if rules.Suspended(inside) {
		t.Error("a grant holds an object of a scope that its policy does not name")
	}
	rules.Grants[0].Scopes = []string{"s"}
	if rules.Suspended(outside) || !rules.Suspended(inside) {
		t.Error("a grant holds what is outside of all scopes, or not what is inside")
	}
	gone := []guard.Observation{{Addr: addr(t, "x_y.z"), Object: inside, Deleted: true}}
	if judged, _ := guard.Judge(gone, rules, nil, digest, start); judged[0].Decision != guard.Held {
		t.Errorf("a covered object is %s", judged[0].Decision)
	}
}

func TestRefusalsOfPlans(t *testing.T) {
	t.Parallel()
	before, after := object("i", 1, tag("a", "1")), object("i", 2, tag("a", "1"))
	update := plans.Change{Action: plans.Update, Before: before, After: after}
	percent := 50
	tests := map[string]struct {
		change plans.Change
		scope  func(*control.Scope)
		want   string
	}{
		"outside":                {update, func(s *control.Scope) { s.Include[0] = control.Match{Type: "other"} }, "Change outside the agent's scopes: The revision asks to update x_y.z, but no scope of this agent includes it."},
		"another provider":       {update, func(s *control.Scope) { s.Include[0].Provider = "hashicorp/aws" }, "Change outside the agent's scopes"},
		"another module":         {update, func(s *control.Scope) { s.Include[0].Module = "module.m" }, "Change outside the agent's scopes"},
		"created by a guest":     {plans.Change{Action: plans.Create, Before: cty.NullVal(before.Type()), After: after}, func(s *control.Scope) { s.Include[0].Attributes = []string{"size"} }, `Only attributes of the object are owned: Scope "s" owns some attributes of x_y.z`},
		"replaced by a guest":    {plans.Change{Action: plans.DeleteThenCreate, Before: before, After: after}, func(s *control.Scope) { s.Include[0].Attributes = []string{"size"} }, "Only attributes of the object are owned"},
		"stray of the provider":  {update, func(s *control.Scope) { s.Include[0].Except = []string{"size"} }, "Change of attributes that are not owned: To make this change of x_y.z the provider would also change size"},
		"outside of its windows": {update, func(s *control.Scope) { s.Windows = []control.Window{{From: "22:00", Until: "04:00"}} }, `Change outside the scope's times: The plan wants to update x_y.z, but scope "s" allows changes in its windows only, and it is Thu 12:00 UTC.`},
		"too large a share":      {update, func(s *control.Scope) { s.MaxShare = &percent }, "Plan exceeds a limit of its scope: The plan changes 1 of 1 objects in scope \"s\", which allows 50 percent a round."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := scopes("**")
			test.scope(&set[0])
			test.change.Addr = addr(t, "x_y.z")
			test.change.PrevAddr = test.change.Addr
			with := circumstances(start.Add(12 * time.Hour))
			with.Where = func(addrs.ResourceInstance) *hcl.Range {
				return &hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: 7}}
			}
			approved, diags := guard.Check(&plans.Plan{Changes: []*plans.Change{&test.change}}, guard.Rules{Scopes: set}, with)
			if approved.Plan() != nil || len(diags) == 0 {
				t.Fatal("the plan was approved")
			}
			if got := diags[0].Summary + ": " + diags[0].Detail; !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if at := diags[0].Subject; name != "too large a share" && (at == nil || at.Start.Line != 7) {
				t.Errorf("the refusal is at %v, not at the line that asks for it", at)
			}
		})
	}
}
