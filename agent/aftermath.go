package agent

import (
	"context"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// aftermath reads the objects that changed objects refer to once more and records
// what it finds. A change often shows there: a role lists the policies that are
// attached to it. Without this the next round would take the agent's own work for
// somebody else's. What the configuration sets is compared with it all the same.
func (r *round) aftermath(ctx context.Context, state *states.State) *states.State {
	concerned := r.concerned(state)
	if len(concerned) == 0 {
		return state
	}
	opts := r.planOptions()
	opts.Mode = plans.RefreshOnlyMode
	for _, addr := range concerned {
		opts.Targets = append(opts.Targets, addrs.Target{Module: addr.Module, Resource: addr.Resource, Key: addr.Key, HasKey: true})
	}
	read, diags := r.revision.engine.Plan(ctx, r.revision.config, state, opts)
	if diags.HasErrors() {
		r.diags = append(r.diags, diags...) // the changes are made and recorded; the next round reads again
		return state
	}
	next := state.Copy()
	for _, addr := range concerned {
		found, resource := read.Prior.Object(addr), state.Resource(addr.Module, addr.Resource)
		if found != nil && resource != nil {
			next.SetObject(addr, resource.Provider, found)
		}
	}
	return next
}

// concerned lists the recorded instances that changed objects refer to, directly
// or not.
func (r *round) concerned(state *states.State) []addrs.ResourceInstance {
	resources := map[string]bool{}
	for _, c := range r.plan.Changes {
		if c.Action == plans.NoOp || c.Action == plans.Read {
			continue
		}
		for _, s := range []*states.State{r.plan.Prior, state} {
			if object := s.Object(c.Addr); object != nil {
				for _, dependency := range object.Dependencies {
					resources[dependency] = true
				}
			}
		}
	}
	var out []addrs.ResourceInstance
	state.Each(func(addr addrs.ResourceInstance, _ *states.Resource, instance *states.Instance) {
		if instance.Current != nil && addr.Resource.Mode == addrs.Managed && resources[addr.Config().String()] {
			out = append(out, addr)
		}
	})
	return out
}
