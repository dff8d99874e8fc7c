package guard_test

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

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

func TestMatchAddress(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pattern, addr string
		want          bool
	}{
		"everything":                     {"**", `module.a["x.y"].aws_vpc.b[0]`, true},
		"exact":                          {"aws_vpc.b", "aws_vpc.b", true},
		"no key means all instances":     {"aws_vpc.b", "aws_vpc.b[3]", true},
		"key means that instance":        {"aws_vpc.b[3]", "aws_vpc.b[4]", false},
		"star stays in its step":         {"*.b", "module.m.aws_vpc.b", false},
		"star inside a step":             {"aws_*.b*", "aws_vpc.blue", true},
		"double star at the front":       {"**.aws_vpc.b", "module.m.module.n.aws_vpc.b", true},
		"double star for no step":        {"**.aws_vpc.b", "aws_vpc.b", true},
		"below a module":                 {"module.net.**", `module.net["eu"].aws_vpc.b`, true},
		"one module instance":            {`module.net["eu"].**`, `module.net["us"].aws_vpc.b`, false},
		"dots in keys are no steps":      {`module.net["a.b"].**`, `module.net["a.b"].aws_vpc.b`, true},
		"star for a key":                 {`aws_vpc.b[*]`, `aws_vpc.b["x"]`, true},
		"data sources are named as such": {"aws_vpc.b", "data.aws_vpc.b", false},
		"prefix is no match":             {"aws_vpc.b", "aws_vpc.bb", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := guard.MatchAddress(test.pattern, test.addr); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestMatchingHostilePatternsEnds(t *testing.T) {
	t.Parallel()
	pattern := strings.Repeat("**.a*a*a*a.", 200) + "b"
	if guard.MatchAddress(pattern, strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaa.", 200)+"c") {
		t.Error("matched")
	}
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
		approved, diags := guard.Check(plan, set)
		if (approved.Plan() == nil) != diags.HasErrors() {
			t.Fatal("refused without a reason, or approved with one")
		}
		if approved.Plan() == nil {
			continue
		}
		deletes := 0
		for _, c := range plan.Changes {
			actions := guard.ActionsOf(c.Action)
			if len(actions) > 0 && !guard.InScope(set[0], c.Addr) {
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
	if approved, diags := guard.Check(&plans.Plan{Errored: true}, scopes("**")); approved.Plan() != nil || !diags.HasErrors() {
		t.Error("an incomplete plan was approved")
	}
}

var schema = &providers.Block{Attributes: map[string]*providers.Attribute{
	"id": {Type: cty.String, Computed: true}, "size": {Type: cty.Number, Optional: true}, "tags": {Type: cty.Map(cty.String), Optional: true},
}}

func object(id string, size int64, tags map[string]cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id), "size": cty.NumberIntVal(size), "tags": cty.MapVal(tags)})
}

func TestObserve(t *testing.T) {
	t.Parallel()
	tag := func(k, v string) map[string]cty.Value { return map[string]cty.Value{k: cty.StringVal(v)} }
	tests := map[string]struct {
		after   cty.Value
		ignore  []string
		want    []string
		ignored []string
		none    bool
	}{
		"attribute":               {after: object("i", 2, tag("a", "1")), want: []string{"size"}},
		"element of a map":        {after: object("i", 1, tag("b", "1")), want: []string{`tags["a"]`, `tags["b"]`}},
		"what only the cloud set": {after: object("j", 1, tag("a", "1")), none: true},
		"ignored by type":         {after: object("i", 2, tag("a", "1")), ignore: []string{"x_y.size"}, ignored: []string{"size"}},
		"ignored by address":      {after: object("i", 2, tag("a", "2")), ignore: []string{"x_y.z.tags"}, want: []string{"size"}, ignored: []string{`tags["a"]`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := scopes("**")
			set[0].IgnoreAttributes = test.ignore
			plan := &plans.Plan{Drift: []*plans.Change{{Addr: addr(t, "x_y.z"), Action: plans.Update, Before: object("i", 1, tag("a", "1")), After: test.after}}}
			got := guard.Observe(plan, set, func(*plans.Change) *providers.Block { return schema })
			if test.none {
				if len(got) != 0 {
					t.Errorf("observed %+v", got)
				}
				return
			}
			if len(got) != 1 || !slices.Equal(got[0].Attributes, test.want) || !slices.Equal(got[0].Ignored, test.ignored) {
				t.Errorf("observed %+v", got)
			}
		})
	}
}

func TestGraceCountsFromTheFirstSight(t *testing.T) {
	t.Parallel()
	set := scopes("**")
	set[0].Drift.Grace = control.Duration(10 * time.Minute)
	seen := []guard.Observation{{Addr: addr(t, "x_y.z"), Attributes: []string{"size"}}}
	memory := guard.Memory{}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		minute int
		want   guard.Decision
	}{{0, guard.InGrace}, {9, guard.InGrace}, {10, guard.Corrected}} {
		judged, next := guard.Judge(seen, set, nil, memory, start.Add(time.Duration(step.minute)*time.Minute))
		if judged[0].Decision != step.want || !judged[0].Since.Equal(start) {
			t.Errorf("minute %d: %s since %s", step.minute, judged[0].Decision, judged[0].Since)
		}
		memory = next
	}
	if _, next := guard.Judge(nil, set, nil, memory, start); len(next) != 0 {
		t.Error("drift that is gone is remembered")
	}
}

func TestGraceOutlivesNoClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	set := scopes("**")
	set[0].Drift.Grace = control.Duration(10 * time.Minute)
	seen := []guard.Observation{{Addr: addr(t, "x_y.z"), Attributes: []string{"size"}}}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	_, memory := guard.Judge(seen, set, nil, guard.Memory{}, start.Add(5*time.Hour))
	for _, step := range []struct {
		minute int
		want   guard.Decision
	}{{0, guard.InGrace}, {10, guard.Corrected}} {
		var judged []guard.Judged
		judged, memory = guard.Judge(seen, set, nil, memory, start.Add(time.Duration(step.minute)*time.Minute))
		if judged[0].Decision != step.want {
			t.Errorf("minute %d after the clock was set back: %s, want %s", step.minute, judged[0].Decision, step.want)
		}
	}
}

// TestGrantNeverWidens: whatever a grant names, it holds nothing outside its
// policy's scopes and lets nothing through the guard.
func TestGrantNeverWidens(t *testing.T) {
	t.Parallel()
	set := scopes("x_y.*")
	grant := guard.OpenGrant{ID: "g", Targets: []string{"**"}, Scopes: []string{"other"}}
	if grant.Covers(guard.ScopeOf(set, addr(t, "x_y.z")), addr(t, "x_y.z")) {
		t.Error("a grant holds an object of a scope that its policy does not name")
	}
	grant.Scopes = []string{"s"}
	if grant.Covers(guard.ScopeOf(set, addr(t, "q_r.z")), addr(t, "q_r.z")) {
		t.Error("a grant holds an object outside all scopes")
	}
	judged, _ := guard.Judge([]guard.Observation{{Addr: addr(t, "x_y.z"), Deleted: true}}, set, []guard.OpenGrant{grant}, nil, time.Now())
	if judged[0].Decision != guard.Held {
		t.Errorf("a covered object is %s", judged[0].Decision)
	}
}

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
			approved, diags := guard.Check(&plans.Plan{Changes: []*plans.Change{&test.change}}, set)
			if got := approved.Plan() != nil; got != test.want {
				t.Errorf("approved: %v, %v", got, diags.Err())
			}
		})
	}
}
