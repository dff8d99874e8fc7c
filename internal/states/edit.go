package states

import (
	"errors"
	"fmt"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/addrs"
)

// Reasons for which [State.Move] refuses.
var (
	// ErrNothingThere says that the source address matches nothing.
	ErrNothingThere = errors.New("does not match anything in the current state")
	// ErrTaken says that something is at the target address already.
	ErrTaken = errors.New("is taken in the current state")
	// ErrKind says that source and target are not addresses of the same kind of thing.
	ErrKind = errors.New("is not the address of the same kind of thing")
)

// Move takes a module, a resource or an instance from one address to another, in
// this state or into another one. A resource's address without key stands for all
// its instances if they have keys. Objects that depend on what moved lose their
// recorded dependencies, which the next apply records anew.
func (s *State) Move(from addrs.Target, into *State, to addrs.Target) error {
	if err := s.move(from, into, to); err != nil {
		return err
	}
	into.forgetDependents(from)
	return nil
}

func (s *State) move(from addrs.Target, into *State, to addrs.Target) error {
	if (from.Resource == addrs.Resource{}) != (to.Resource == addrs.Resource{}) {
		return fmt.Errorf("%s %w", to, ErrKind)
	}
	if (from.Resource == addrs.Resource{}) {
		return s.moveModule(from.Module, into, to.Module)
	}
	r := s.Resource(from.Module, from.Resource)
	if r == nil {
		return fmt.Errorf("%s %w", from, ErrNothingThere)
	}
	if from.Resource.Mode != to.Resource.Mode || from.Resource.Type != to.Resource.Type {
		return fmt.Errorf("%s %w: the types of the resources are not the same", to, ErrKind)
	}
	if _, single := r.Instances[addrs.NoKey]; !from.HasKey && !single {
		if to.HasKey {
			return fmt.Errorf("%s %w: the source is a whole resource", to, ErrKind)
		}
		return s.moveResource(r, into, to)
	}
	return s.moveInstance(r, from, into, to)
}

func (s *State) moveModule(from ModuleInstance, into *State, to ModuleInstance) error {
	var found []*Resource
	for _, r := range s.Resources() {
		if from.Contains(r.Module) {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("%s %w", from, ErrNothingThere)
	}
	for _, r := range into.table.byKey {
		if to.Contains(r.Module) {
			return fmt.Errorf("%s %w", to, ErrTaken)
		}
	}
	for _, r := range found {
		delete(s.writable(), resourceKey(r.Module, r.Addr))
	}
	for _, r := range found {
		moved := *r
		moved.owner = nil
		moved.Module = slices.Concat(to, r.Module[len(from):])
		into.writable()[resourceKey(moved.Module, moved.Addr)] = &moved
	}
	return nil
}

func (s *State) moveResource(r *Resource, into *State, to addrs.Target) error {
	if into.Resource(to.Module, to.Resource) != nil {
		return fmt.Errorf("%s %w", to, ErrTaken)
	}
	delete(s.writable(), resourceKey(r.Module, r.Addr))
	moved := *r
	moved.owner = nil
	moved.Module, moved.Addr = to.Module, to.Resource
	into.writable()[resourceKey(to.Module, to.Resource)] = &moved
	return nil
}

func (s *State) moveInstance(r *Resource, from addrs.Target, into *State, to addrs.Target) error {
	source := addrs.ResourceInstance{Module: from.Module, Resource: from.Resource, Key: from.Key}
	target := addrs.ResourceInstance{Module: to.Module, Resource: to.Resource, Key: to.Key}
	inst := r.Instances[from.Key]
	if inst == nil {
		return fmt.Errorf("%s %w", from, ErrNothingThere)
	}
	if into.Instance(target) != nil {
		return fmt.Errorf("%s %w", to, ErrTaken)
	}
	provider := r.Provider
	if existing := into.Resource(to.Module, to.Resource); existing != nil {
		provider = existing.Provider
	}
	s.Forget(source)
	into.setInstance(target, provider, *inst)
	return nil
}

// forgetDependents drops the dependencies of objects that depend on what a target names.
func (s *State) forgetDependents(target addrs.Target) {
	names := func(text string) bool {
		addr, diags := addrs.ParseConfigResource(text)
		if diags.HasErrors() {
			return false
		}
		if target.Resource != (addrs.Resource{}) {
			return addr.Resource == target.Resource && addr.Module.Equal(target.Module.Module())
		}
		keyed := slices.ContainsFunc(target.Module, func(step addrs.ModuleStep) bool { return step.Key != addrs.NoKey })
		path := target.Module.Module()
		return !keyed && len(addr.Module) >= len(path) && path.Equal(addr.Module[:len(path)])
	}
	s.Each(func(addr addrs.ResourceInstance, r *Resource, inst *Instance) {
		if inst.Current != nil && slices.ContainsFunc(inst.Current.Dependencies, names) {
			s.SetObject(addr, r.Provider, inst.Current.withoutDependencies())
		}
	})
}

// Matching lists the instances that a target covers, in the order of the state file.
func (s *State) Matching(target addrs.Target) []addrs.ResourceInstance {
	var out []addrs.ResourceInstance
	s.Each(func(addr addrs.ResourceInstance, _ *Resource, _ *Instance) {
		if target.Contains(addr) {
			out = append(out, addr)
		}
	})
	return out
}

// Forget removes an instance with all its objects.
func (s *State) Forget(addr addrs.ResourceInstance) {
	s.setInstance(addr, addrs.ProviderConfig{}, Instance{})
}

// ReplaceProvider makes another provider manage the resources of one. It returns
// those that it changed.
func (s *State) ReplaceProvider(from, to addrs.Provider) []*Resource {
	var changed []*Resource
	for _, r := range s.Resources() {
		if r.Provider.Provider == from {
			mine := s.writableResource(resourceKey(r.Module, r.Addr))
			mine.Provider.Provider = to
			changed = append(changed, mine)
		}
	}
	return changed
}

// Only returns a state with one instance of this one and nothing else.
func (s *State) Only(addr addrs.ResourceInstance) *State {
	out := New()
	r := s.Resource(addr.Module, addr.Resource)
	if r == nil || r.Instances[addr.Key] == nil {
		return out
	}
	single := *r
	single.owner = nil
	single.Instances = map[addrs.InstanceKey]*Instance{addr.Key: r.Instances[addr.Key]}
	out.writable()[resourceKey(r.Module, r.Addr)] = &single
	return out
}

// WithTaint returns an object that is marked for replacement, or no longer.
func (o *Object) WithTaint(tainted bool) *Object {
	copied := o.copy()
	copied.Tainted = tainted
	return copied
}

func (o *Object) withoutDependencies() *Object {
	copied := o.copy()
	copied.Dependencies = nil
	return copied
}

func (o *Object) copy() *Object {
	return &Object{
		SchemaVersion: o.SchemaVersion, AttrsJSON: o.AttrsJSON, AttrsFlat: o.AttrsFlat, Sensitive: o.Sensitive, Private: o.Private,
		Dependencies: o.Dependencies, Tainted: o.Tainted, CreateBeforeDestroy: o.CreateBeforeDestroy,
	}
}
