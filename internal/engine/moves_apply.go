package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// relocation is what became of recorded addresses.
type relocation struct {
	state *states.State
	// previous holds the recorded address of instances that moved, by their new address.
	previous map[string]addrs.ResourceInstance
	// blocked are moves that could not be made, as "from could not move to to".
	blocked []string
	// declared are the moved blocks.
	declared []*move
	diags    tfdiags.Diagnostics
}

// relocate gives recorded objects the addresses that the configuration's moves
// ask for. prior is not changed.
func relocate(prog *program, prior *states.State) relocation {
	out := relocation{state: prior, declared: declaredMoves(prog.root.config)}
	moves := append(slices.Clip(out.declared), impliedMoves(prog, prior, out.declared)...)
	if len(moves) == 0 {
		return out
	}
	out.diags = checkMoves(out.declared)
	ordered, diags := orderMoves(moves)
	out.diags = append(out.diags, diags...)
	if out.diags.HasErrors() {
		return out
	}
	mover := newMover(prior)
	for _, m := range ordered {
		mover.make(m)
	}
	out.state, out.previous = mover.result(prior)
	out.blocked = mover.blocked
	return out
}

// movable is one recorded instance on its way.
type movable struct {
	was, now addrs.ResourceInstance
	resource *states.Resource
	instance *states.Instance
}

// mover makes moves.
type mover struct {
	all []*movable
	// byResource finds the instances of one resource, in any module instance.
	byResource map[string][]*movable
	// taken counts the instances at an address: of a module instance, of a
	// resource in one, of a resource instance.
	taken   map[string]int
	blocked []string
}

func newMover(prior *states.State) *mover {
	m := &mover{byResource: map[string][]*movable{}, taken: map[string]int{}}
	prior.Each(func(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance) {
		entry := &movable{was: addr, now: addr, resource: r, instance: inst}
		m.all = append(m.all, entry)
		m.take(addr, 1)
		key := addr.Config().String()
		m.byResource[key] = append(m.byResource[key], entry)
	})
	return m
}

// places are the addresses that an instance takes.
func places(addr addrs.ResourceInstance) [3]string {
	whole := addrs.ResourceInstance{Module: addr.Module, Resource: addr.Resource}
	return [3]string{"module " + addr.Module.String(), "resource " + whole.String(), addr.String()}
}

// take adds n to the counts of all places of an address.
func (m *mover) take(addr addrs.ResourceInstance, n int) {
	for _, place := range places(addr) {
		m.taken[place] += n
	}
}

// put gives an instance a new address. Its entry under the old resource stays: it
// is passed over there, because no move speaks of its address any more.
func (m *mover) put(entry *movable, to addrs.ResourceInstance) {
	m.take(entry.now, -1)
	m.take(to, 1)
	was, key := entry.now.Config().String(), to.Config().String()
	entry.now = to
	if was != key {
		m.byResource[key] = append(m.byResource[key], entry)
	}
}

// make moves every instance that the move speaks of, unless its place is taken.
func (m *mover) make(mv *move) {
	candidates := m.all
	if !mv.from.isModule() {
		candidates = m.byResource[mv.from.config()]
	}
	type step struct {
		entry *movable
		to    addrs.ResourceInstance
	}
	var steps []step
	for _, entry := range candidates {
		to, ok := mv.destination(entry.now)
		if !ok {
			continue
		}
		if from, taken := mv.place(entry.now), mv.place(to); m.taken[taken] > 0 {
			m.block(from, taken)
			continue
		}
		steps = append(steps, step{entry, to})
	}
	for _, s := range steps {
		m.put(s.entry, s.to)
	}
}

// placeName is the address in one of an instance's places.
func placeName(place string) string {
	return strings.TrimPrefix(strings.TrimPrefix(place, "module "), "resource ")
}

func (m *mover) block(from, to string) {
	text := placeName(from) + " could not move to " + placeName(to)
	if !slices.Contains(m.blocked, text) {
		m.blocked = append(m.blocked, text)
	}
}

// result returns the state after all moves, and the recorded addresses of what moved.
func (m *mover) result(prior *states.State) (*states.State, map[string]addrs.ResourceInstance) {
	previous := map[string]addrs.ResourceInstance{}
	out := prior
	for _, entry := range m.all {
		if entry.was.Equal(entry.now) {
			continue
		}
		if len(previous) == 0 {
			out = prior.Copy()
		}
		previous[entry.now.String()] = entry.was
		out.SetObject(entry.was, entry.resource.Provider, nil)
		for key := range entry.instance.Deposed {
			out.SetDeposed(entry.was, key, entry.resource.Provider, nil)
		}
	}
	for _, entry := range m.all {
		if entry.was.Equal(entry.now) {
			continue
		}
		out.SetObject(entry.now, entry.resource.Provider, entry.instance.Current)
		for key, obj := range entry.instance.Deposed {
			out.SetDeposed(entry.now, key, entry.resource.Provider, obj)
		}
	}
	return out, previous
}

// config is the address of the pattern's resource without keys.
func (e moveEnd) config() string {
	out := addrs.ConfigResource{Resource: e.resource}
	for _, step := range e.modules {
		out.Module = append(out.Module, step.name)
	}
	return out.String()
}

// place is the address, among those of an instance, that a move of it needs free.
func (m *move) place(addr addrs.ResourceInstance) string {
	switch {
	case m.from.isModule():
		return places(addr)[0]
	case m.from.anyKey:
		return places(addr)[1]
	default:
		return places(addr)[2]
	}
}

// destination says where the move takes an instance, if it speaks of it.
func (m *move) destination(addr addrs.ResourceInstance) (addrs.ResourceInstance, bool) {
	if len(addr.Module) < len(m.from.modules) {
		return addr, false
	}
	for i, step := range m.from.modules {
		if step.name != addr.Module[i].Name || (!step.any && step.key != addr.Module[i].Key) {
			return addr, false
		}
	}
	if !m.from.isModule() && (len(addr.Module) != len(m.from.modules) || addr.Resource != m.from.resource || (!m.from.anyKey && addr.Key != m.from.key)) {
		return addr, false
	}
	out := addrs.ResourceInstance{Resource: addr.Resource, Key: addr.Key}
	for i, step := range m.to.modules {
		key := step.key
		switch {
		case i < m.declared:
			key = addr.Module[i].Key
		case step.any:
			key = addr.Module[len(m.from.modules)-1].Key
		}
		out.Module = append(out.Module, addrs.ModuleStep{Name: step.name, Key: key})
	}
	out.Module = append(out.Module, addr.Module[len(m.from.modules):]...)
	if !m.from.isModule() {
		out.Resource = m.to.resource
		if !m.to.anyKey {
			out.Key = m.to.key
		}
	}
	return out, true
}

// blockedWarning tells of moves that could not be made.
func (r relocation) blockedWarning() tfdiags.Diagnostics {
	if len(r.blocked) == 0 {
		return nil
	}
	blocked := slices.Sorted(slices.Values(r.blocked))
	return tfdiags.New(tfdiags.Warning, "Unresolved resource instance address changes",
		fmt.Sprintf("Objects are recorded already where others were to move to:\n  - %s\n\nWhat could not move counts as not declared, so the plan destroys it. If that is wrong, resolve the conflict with \"towline state mv\" or \"towline state rm\" and plan again.", strings.Join(blocked, "\n  - ")))
}
