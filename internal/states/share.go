package states

import (
	"bytes"
	"maps"
)

// A copy of a state shares all resources with the original until either is
// changed: who changes something copies it first, unless it is its own. That
// makes a copy as cheap as a pointer, and what two states still share is known to
// be the same without a look at it.

// owner marks what one state alone may change. A state gives up its mark when it
// is copied: from then on all that it holds is shared.
type owner struct{ _ byte }

// table is the resources of a state, by resourceKey.
type table struct {
	owner *owner
	byKey map[string]*Resource
}

// own returns the mark of what s alone may change.
func (s *State) own() *owner {
	mark := s.mark.Load()
	if mark == nil {
		mark = &owner{}
		s.mark.Store(mark)
	}
	return mark
}

// writable returns the resources, for changes to which there are.
func (s *State) writable() map[string]*Resource {
	if mark := s.own(); s.table.owner != mark {
		s.table = &table{mark, maps.Clone(s.table.byKey)}
	}
	return s.table.byKey
}

// writableResource returns a resource for changes, or nil if there is none. Its
// instances may be shared: they are replaced, never changed.
func (s *State) writableResource(key string) *Resource {
	r := s.table.byKey[key]
	if r == nil || r.owner == s.own() {
		return r
	}
	mine := *r
	mine.owner, mine.Instances = s.own(), maps.Clone(r.Instances)
	s.writable()[key] = &mine
	return &mine
}

// Copy returns a state that can be changed without changing s. It costs the same
// for any number of resources.
func (s *State) Copy() *State {
	s.mark.Store(nil)
	return &State{
		TerraformVersion: s.TerraformVersion, Serial: s.Serial, Lineage: s.Lineage,
		Outputs: maps.Clone(s.Outputs), CheckResults: s.CheckResults, table: s.table,
	}
}

// Same tells whether two states record the same objects, told by their identity
// and not by their content, under the same addresses and providers, and the same
// outputs and results of checks.
func (s *State) Same(t *State) bool {
	return bytes.Equal(s.CheckResults, t.CheckResults) && maps.EqualFunc(s.Outputs, t.Outputs, sameOutput) &&
		(s.table == t.table || maps.EqualFunc(s.table.byKey, t.table.byKey, sameResource))
}

func sameOutput(a, b *Output) bool {
	return a == b || a.Sensitive == b.Sensitive && a.Value.RawEquals(b.Value)
}

func sameResource(a, b *Resource) bool {
	return a == b || a.Provider.String() == b.Provider.String() && maps.EqualFunc(a.Instances, b.Instances, sameInstance)
}

func sameInstance(a, b *Instance) bool {
	return a == b || a.Current == b.Current && maps.Equal(a.Deposed, b.Deposed)
}
