package engine

import (
	"slices"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
)

func (p *planner) noteAwaited(addr addrs.ResourceInstance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaited = append(p.awaited, addr)
}

// withoutWaiting takes out of a plan what depends on objects that do not exist and are
// not to be made: nothing is built on what nobody knows. What was made from such an
// object stays as it is, and so does what it was made from.
func (p *planner) withoutWaiting(plan *plans.Plan) {
	if len(p.awaited) == 0 {
		return
	}
	slices.SortFunc(p.awaited, addrs.ResourceInstance.Compare)
	plan.Awaited, plan.Complete = p.awaited, false
	prog, stay := p.walk.prog, map[*object]bool{}
	for _, addr := range p.awaited {
		stay[prog.declared(addr.Config())] = true
	}
	var below map[*object]bool
	for n := -1; n < len(plan.Waiting); { // what waits keeps others from being removed, and so on
		n, below = len(plan.Waiting), p.below(stay)
		takeOut(plan, func(c *plans.Change) bool {
			return below[prog.declared(c.Addr.Config())] || below[prog.providers[c.Provider.String()]]
		})
		needed := p.neededBy(plan.Waiting)
		takeOut(plan, func(c *plans.Change) bool {
			goes := (c.Action == plans.Delete || c.Action.IsReplace()) && needed[c.Addr.Config().String()]
			if o := prog.declared(c.Addr.Config()); goes && o != nil {
				stay[o] = true
			}
			return goes
		})
	}
	plan.Outputs = slices.DeleteFunc(plan.Outputs, func(c *plans.OutputChange) bool {
		return below[prog.root.outputs[c.Name]]
	})
	slices.SortFunc(plan.Waiting, addrs.ResourceInstance.Compare)
	plan.Waiting = slices.CompactFunc(plan.Waiting, addrs.ResourceInstance.Equal)
}

// takeOut has changes of a plan wait.
func takeOut(plan *plans.Plan, waits func(*plans.Change) bool) {
	plan.Changes = slices.DeleteFunc(plan.Changes, func(c *plans.Change) bool {
		if c.Action == plans.NoOp || !waits(c) {
			return false
		}
		plan.Waiting = append(plan.Waiting, c.Addr)
		return true
	})
}

// below finds what depends on any of some resources, be it on another instance than one
// that is awaited: which one, only the evaluation of its values would tell.
func (p *planner) below(some map[*object]bool) map[*object]bool {
	out := map[*object]bool{}
	for _, o := range p.walk.prog.order {
		below := false
		o.needs(func(need *object) { below = below || some[need] || out[need] })
		if below {
			out[o] = true
		}
	}
	return out
}
