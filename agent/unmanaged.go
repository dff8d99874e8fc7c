package agent

import (
	"cmp"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// maxUnmanaged bounds what one receipt lists. An inventory that holds more lists too
// much to be looked through.
const maxUnmanaged = 1000

// findUnmanaged compares what inventories list with what the agent manages: data sources
// that were read, and list blocks that were asked.
func (r *round) findUnmanaged(plan *plans.Plan) {
	r.unmanaged = nil
	var managed map[string]bool
	plan.Prior.Each(func(addr addrs.ResourceInstance, _ *states.Resource, inst *states.Instance) {
		if addr.Resource.Mode != addrs.Data || inst.Current == nil {
			return
		}
		for _, inventory := range r.inventories(addr.String()) {
			if managed == nil {
				managed = identities(plan.Prior)
			}
			r.list(addr.String(), inventory, inst.Current, managed)
		}
	})
	for _, listed := range plan.Listed {
		for _, inventory := range r.inventories(listed.Addr) {
			r.compareListed(&listed, inventory, plan.Prior)
		}
	}
	slices.SortFunc(r.unmanaged, func(a, b control.UnmanagedItem) int {
		return cmp.Or(cmp.Compare(a.Inventory, b.Inventory), cmp.Compare(a.ID, b.ID))
	})
	r.unmanaged = slices.Compact(r.unmanaged) // two scopes may have the same inventory
	r.unmanaged = r.unmanaged[:min(len(r.unmanaged), maxUnmanaged)]
	r.agent.memory.Unmanaged = r.since(r.agent.memory.Unmanaged)
}

// inventories are those of the scopes that a data source or a list block is.
func (r *round) inventories(addr string) []control.Inventory {
	var out []control.Inventory
	for _, scope := range r.scopes {
		for _, inventory := range scope.Inventories {
			if control.MatchAddress(inventory.Data, addr) {
				out = append(out, inventory)
			}
		}
	}
	return out
}

// list adds what an inventory has and the agent does not manage.
func (r *round) list(addr string, inventory control.Inventory, object *states.Object, managed map[string]bool) {
	if object.Decoded() == nil {
		return // it was not read in this round
	}
	for _, element := range elements(object.Decoded().Value, inventory.List) {
		id := element
		if inventory.ID != "" {
			id = attribute(element, inventory.ID)
		}
		if text, ok := textOf(id); ok && !managed[text] {
			r.noteUnmanaged(addr, text, element)
		}
	}
}

func (r *round) noteUnmanaged(inventory, id string, said cty.Value) {
	r.unmanaged = append(r.unmanaged, control.UnmanagedItem{Inventory: inventory, ID: id, Digest: r.agent.digest(said)[:digestLength]})
}

// digestLength is how much of a digest receipts hold: enough to tell values apart.
const digestLength = 16

// since gives each object the time at which it was first seen as it is, and returns
// what to remember.
func (r *round) since(known []control.UnmanagedItem) []control.UnmanagedItem {
	type identity struct{ inventory, id, digest string }
	seen := make(map[identity]time.Time, len(known))
	for _, item := range known {
		seen[identity{item.Inventory, item.ID, item.Digest}] = item.Since
	}
	for i := range r.unmanaged {
		item := &r.unmanaged[i]
		item.Since = r.started
		if at, ok := seen[identity{item.Inventory, item.ID, item.Digest}]; ok {
			item.Since = at
		}
	}
	return r.unmanaged
}

// identities are the ids of all recorded objects.
func identities(state *states.State) map[string]bool {
	out := map[string]bool{}
	state.Each(func(addr addrs.ResourceInstance, _ *states.Resource, inst *states.Instance) {
		if addr.Resource.Mode != addrs.Managed {
			return
		}
		if inst.Current != nil {
			out[inst.Current.ID()] = true
		}
		for _, object := range inst.Deposed {
			out[object.ID()] = true
		}
	})
	return out
}

// elements are those of a list, set or map attribute; none if there is no such thing.
func elements(object cty.Value, name string) []cty.Value {
	list := attribute(object, name)
	if list == cty.NilVal || list.IsNull() || !list.IsKnown() || !list.CanIterateElements() {
		return nil
	}
	var out []cty.Value
	for it := list.ElementIterator(); it.Next(); {
		_, element := it.Element()
		out = append(out, element)
	}
	return out
}

// attribute is an attribute of an object; NilVal if it has none.
func attribute(object cty.Value, name string) cty.Value {
	if object == cty.NilVal || object.IsNull() || !object.IsKnown() || !object.Type().IsObjectType() || !object.Type().HasAttribute(name) {
		return cty.NilVal
	}
	return object.GetAttr(name)
}

func textOf(v cty.Value) (string, bool) {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}
