package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// neighbour is another shard of the environment: what its scopes include is for its
// agents to manage, and is taken here as they left it.
type neighbour struct {
	control.Shard
	scopes []control.Scope
	// state is its newest state, empty without one.
	state *states.State
}

// left is a state of another shard that was read, and its key in the store.
type left struct {
	key   string
	state *states.State
}

// lookAround reads what the agents of other shards have left, where that is new. What
// cannot be read now is as it was read last, or as if it were not there.
func (r *round) lookAround(ctx context.Context) {
	r.neighbours = r.declaredNeighbours()
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	for i := range r.neighbours {
		n := &r.neighbours[i]
		if r.fresh {
			if err := r.agent.look(ctx, r.declared, n.Shard); err != nil {
				r.warn("Shard not readable", fmt.Sprintf("The state of %s could not be read: %s.", n.Shard, err))
			}
		}
		if n.state = r.agent.around[n.Shard].state; n.state == nil {
			n.state = states.New()
		}
	}
}

// declaredNeighbours are the other shards with the scopes of their agents, in a fixed order.
func (r *round) declaredNeighbours() []neighbour {
	var out []neighbour
	for _, other := range r.declared.Agents {
		if other.Shard == r.self.Shard {
			continue
		}
		at := slices.IndexFunc(out, func(n neighbour) bool { return n.Name == other.Shard })
		if at < 0 {
			at, out = len(out), append(out, neighbour{Shard: other.ShardOf()})
		}
		for _, name := range other.Scopes {
			if scope, ok := r.declared.Scopes[name]; ok {
				out[at].scopes = append(out[at].scopes, scope)
			}
		}
	}
	slices.SortFunc(out, func(a, b neighbour) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// look reads a shard's newest state unless it is the one that was read last.
func (a *Agent) look(ctx context.Context, declared *repository.State, shard control.Shard) error {
	newest := ""
	for info, err := range a.store.List(ctx, shard.StatePrefix()) {
		if err != nil {
			return err
		}
		newest = info.Key
	}
	if known, ok := a.around[shard]; newest == "" || ok && known.key == newest {
		return nil
	}
	held, err := repository.NewestState(ctx, a.store, declared, shard, states.MaxFileSize)
	if err != nil {
		return err
	}
	data := held.Data
	if held.Sealed {
		if data, err = a.unsealed(ctx, seal.KindState, data, states.MaxFileSize); err != nil {
			return err
		}
	}
	state, diags := states.Decode(data)
	if diags.HasErrors() {
		return diags.Err()
	}
	a.around[shard] = left{newest, state}
	return nil
}

// manager returns the neighbour that manages an instance, nil if none does or this
// agent does itself.
func (r *round) manager(addr addrs.ResourceInstance) *neighbour {
	object := r.objectOf(addr)
	if guard.ScopeOf(r.scopes, object) != nil {
		return nil
	}
	for i := range r.neighbours {
		if guard.ScopeOf(r.neighbours[i].scopes, object) != nil {
			return &r.neighbours[i]
		}
	}
	return nil
}

// given is [manager] as the engine asks it; nil without neighbours.
func (r *round) given() func(addrs.ResourceInstance) bool {
	if len(r.neighbours) == 0 {
		return nil
	}
	return func(addr addrs.ResourceInstance) bool { return r.manager(addr) != nil }
}

// surveyed is the agent's state with what neighbours have. An object that came into this
// agent's scopes and that a neighbour still has is this agent's from now on.
func (r *round) surveyed() *states.State {
	own := r.agent.state
	if len(r.neighbours) == 0 {
		return own
	}
	out := own.Copy()
	for _, n := range r.neighbours {
		n.state.Each(func(addr addrs.ResourceInstance, resource *states.Resource, instance *states.Instance) {
			if addr.Resource.Mode != addrs.Managed || instance.Current == nil {
				return
			}
			manager := r.manager(addr)
			ours := manager == nil && guard.ScopeOf(r.scopes, r.objectOf(addr)) != nil && own.Object(addr) == nil
			if ours || manager != nil && manager.Shard == n.Shard {
				out.SetObject(addr, resource.Provider, instance.Current)
			}
		})
	}
	return out
}

// ownPart takes out of a state what neighbours manage and have.
func (r *round) ownPart(state *states.State) *states.State {
	if len(r.neighbours) == 0 {
		return state
	}
	out := state.Copy()
	state.Each(func(addr addrs.ResourceInstance, resource *states.Resource, _ *states.Instance) {
		manager := r.manager(addr)
		if manager != nil && (manager.state.Object(addr) != nil || r.agent.state.Object(addr) == nil) {
			out.SetObject(addr, resource.Provider, nil)
		}
	})
	return out
}

// noteLeft takes down what a plan has left alone of this agent's, and for what of other shards it may wait.
func (r *round) noteLeft(plan *plans.Plan) {
	r.left, r.missing = nil, nil
	for _, addr := range plan.LeftAlone {
		if r.manager(addr) == nil {
			r.left = append(r.left, addr)
		} else {
			r.missing = append(r.missing, addr)
		}
	}
}

// waitText says for what of other shards a round waits, "" if for nothing.
func (r *round) waitText() string {
	if len(r.missing) == 0 {
		return ""
	}
	var names []string
	for _, addr := range r.missing {
		names = append(names, fmt.Sprintf("%s (%s)", addr, r.manager(addr).Shard))
	}
	return fmt.Sprintf("%s waits for what other shards are to make: %s", r.left[0], few(names))
}
