package guard_test

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

func observe(t *testing.T, set []control.Scope, before, after cty.Value) []guard.Observation {
	t.Helper()
	plan := &plans.Plan{Drift: []*plans.Change{{Addr: addr(t, "x_y.z"), Action: plans.Update, Before: before, After: after}}}
	return guard.Observe(plan, guard.Rules{Scopes: set}, func(*plans.Change) *providers.Block { return schema })
}

func tag(k, v string) map[string]cty.Value { return map[string]cty.Value{k: cty.StringVal(v)} }

func TestObserve(t *testing.T) {
	t.Parallel()
	before := object("i", 1, tag("a", "1"))
	tests := map[string]struct {
		after    cty.Value
		change   func(*control.Scope)
		want     []string
		ignored  []string
		computed []string
		replaced bool
		none     bool
	}{
		"attribute":               {after: object("i", 2, tag("a", "1")), want: []string{"size"}},
		"element of a map":        {after: object("i", 1, tag("b", "1")), want: []string{`tags["a"]`, `tags["b"]`}},
		"what only the cloud set": {after: withSeen(before, "now"), none: true},
		"with what follows":       {after: withSeen(object("i", 2, tag("a", "1")), "now"), want: []string{"size"}, computed: []string{"seen"}},
		"another in its place":    {after: object("j", 1, tag("a", "1")), replaced: true, computed: []string{"id"}},
		"another that differs":    {after: object("j", 2, tag("a", "1")), replaced: true, computed: []string{"id"}, want: []string{"size"}},
		"not owned by type":       {after: object("i", 2, tag("a", "1")), change: func(s *control.Scope) { s.IgnoreAttributes = []string{"x_y.size"} }, none: true},
		"not owned by address":    {after: object("i", 2, tag("a", "2")), change: func(s *control.Scope) { s.IgnoreAttributes = []string{"x_y.z.tags"} }, want: []string{"size"}},
		"only some owned":         {after: object("i", 2, tag("a", "2")), change: func(s *control.Scope) { s.Include[0].Attributes = []string{`tags["a"]`} }, want: []string{`tags["a"]`}},
		"all but some owned":      {after: object("i", 2, tag("a", "2")), change: func(s *control.Scope) { s.Include[0].Except = []string{"tags"} }, want: []string{"size"}},
		"ignored in reports only": {after: object("i", 2, tag("a", "2")), change: func(s *control.Scope) { s.Drift.Ignore = []string{"x_y.tags"} }, want: []string{"size"}, ignored: []string{`tags["a"]`}},
		"outside of all scopes":   {after: object("i", 2, tag("a", "1")), change: func(s *control.Scope) { s.Include[0].Address = "q.r" }, want: []string{"size"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := scopes("**")
			if test.change != nil {
				test.change(&set[0])
			}
			got := observe(t, set, before, test.after)
			if test.none {
				if len(got) != 0 {
					t.Errorf("observed %+v", got)
				}
				return
			}
			if len(got) != 1 || !slices.Equal(got[0].Attributes, test.want) || !slices.Equal(got[0].Ignored, test.ignored) ||
				!slices.Equal(got[0].Computed, test.computed) || got[0].Replaced != test.replaced {
				t.Errorf("observed %+v", got)
			}
		})
	}
}

func TestDeletionIsTheHostsBusiness(t *testing.T) {
	t.Parallel()
	plan := &plans.Plan{Drift: []*plans.Change{{Addr: addr(t, "x_y.z"), Action: plans.Delete, Before: object("i", 1, tag("a", "1"))}}}
	for name, test := range map[string]struct {
		attributes []string
		want       int
	}{"host": {nil, 1}, "guest": {[]string{"size"}, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := scopes("**")
			set[0].Include[0].Attributes = test.attributes
			if got := guard.Observe(plan, guard.Rules{Scopes: set}, nil); len(got) != test.want {
				t.Errorf("observed %+v", got)
			}
		})
	}
}
