package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// What somebody removed by hand still counts among a scope's objects: the share that may
// be made again is one of what there was.
func TestShareOfObjectsThatAreGone(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		recorded, gone, percent int
		want                    string
	}{
		"first apply":   {0, 3, 1, ""},
		"1 of 3 gone":   {3, 1, 50, ""},
		"2 of 3 gone":   {3, 2, 50, "The plan changes 2 of 3 objects"},
		"2 of 3, 70":    {3, 2, 70, ""},
		"3 of 3 gone":   {3, 3, 50, "The plan changes 3 of 3 objects"},
		"3 of 3, 100":   {3, 3, 100, ""},
		"nothing is to": {3, 0, 0, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := scopes("x_y.*")
			set[0].MaxShare = &test.percent
			recorded := states.New()
			recorded.SetObject(addr(t, "q_r.outside"), addrs.ProviderConfig{}, &states.Object{})
			recorded.SetObject(addr(t, "data.x_y.read"), addrs.ProviderConfig{}, &states.Object{})
			plan := &plans.Plan{}
			there := object("i", 1, tag("a", "1"))
			for i := range 3 {
				c := &plans.Change{Addr: addr(t, fmt.Sprintf("x_y.o%d", i)), Action: plans.NoOp, Before: there, After: there}
				c.PrevAddr = c.Addr
				if i < test.gone {
					c.Action, c.Before = plans.Create, cty.NullVal(there.Type())
				}
				if i < test.recorded {
					recorded.SetObject(c.Addr, addrs.ProviderConfig{}, &states.Object{})
				}
				plan.Changes = append(plan.Changes, c)
			}
			with := circumstances(start)
			with.Recorded = recorded
			approved, diags := guard.Check(plan, guard.Rules{Scopes: set}, with)
			if (test.want == "") != (approved.Plan() != nil) {
				t.Fatalf("approved: %v, %v", approved.Plan() != nil, diags.Err())
			}
			if test.want != "" && !strings.HasPrefix(diags[0].Detail, test.want) {
				t.Errorf("got %q, want %q", diags[0].Detail, test.want)
			}
		})
	}
}
