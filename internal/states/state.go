package states

import (
	"encoding/json"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
)

// State is everything recorded about one configuration's real objects. It is
// not safe for concurrent change. Objects in it are immutable, and resources and
// instances that it hands out must not be changed: copies share them.
type State struct {
	TerraformVersion string
	Serial           uint64
	Lineage          string
	Outputs          map[string]*Output
	// CheckResults is kept as it was read.
	CheckResults []byte

	table *table
	mark  atomic.Pointer[owner]
}

// Output is a recorded root output value.
type Output struct {
	Value     cty.Value
	Sensitive bool
}

// Resource is a resource in one module instance, with its instances.
type Resource struct {
	Module ModuleInstance
	Addr   addrs.Resource
	// Provider is the provider configuration that manages the objects.
	Provider  addrs.ProviderConfig
	Instances map[addrs.InstanceKey]*Instance

	owner *owner
}

// ModuleInstance is short for the address type, which this package uses often.
type ModuleInstance = addrs.ModuleInstance

// Instance is one resource instance: its current object and those that a
// create-before-destroy replacement left to be destroyed.
type Instance struct {
	Current *Object // may be nil
	// Deposed objects by key, eight hexadecimal digits.
	Deposed map[string]*Object
}

// Object is what is recorded of one real object. It is immutable.
type Object struct {
	SchemaVersion int64
	// AttrsJSON is the object's value; AttrsFlat is set instead for states older than Terraform 0.12.
	AttrsJSON []byte
	AttrsFlat map[string]string
	// Sensitive are the paths of values that the configuration marks as sensitive.
	Sensitive []cty.Path
	Private   []byte
	// Dependencies are the addresses of the resources that this object's
	// configuration needs, directly or not, sorted.
	Dependencies        []string
	Tainted             bool
	CreateBeforeDestroy bool

	decoded atomic.Pointer[Decoded]
}

// Decoded is an object's value under the current schema, without marks.
type Decoded struct {
	Value cty.Value
	// Encoded is the provider's own msgpack form, or nil.
	Encoded []byte
}

// Decoded returns what [Object.SetDecoded] kept, or nil.
func (o *Object) Decoded() *Decoded { return o.decoded.Load() }

// ID is the value of the attribute id, "" if the object has none that is text.
func (o *Object) ID() string {
	if d := o.Decoded(); d != nil {
		if d.Value.IsNull() || !d.Value.Type().IsObjectType() || !d.Value.Type().HasAttribute("id") {
			return ""
		}
		id := d.Value.GetAttr("id")
		if id.Type() != cty.String || id.IsNull() || !id.IsKnown() {
			return ""
		}
		return id.AsString()
	}
	var attrs struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(o.AttrsJSON, &attrs) != nil {
		return ""
	}
	return attrs.ID
}

// SetDecoded keeps the object's value with it, so that it is decoded once only.
func (o *Object) SetDecoded(d *Decoded) { o.decoded.Store(d) }

// New returns an empty state without lineage.
func New() *State {
	return &State{Outputs: map[string]*Output{}, table: &table{byKey: map[string]*Resource{}}}
}

// Empty tells whether the state records nothing.
func (s *State) Empty() bool { return len(s.table.byKey) == 0 && len(s.Outputs) == 0 }

// Resources returns all resources, in the order of the state file.
func (s *State) Resources() []*Resource {
	out := slices.Collect(maps.Values(s.table.byKey))
	slices.SortFunc(out, func(a, b *Resource) int {
		if c := a.Module.Compare(b.Module); c != 0 {
			return c
		}
		return a.Addr.Compare(b.Addr)
	})
	return out
}

// Resource returns the resource at an address, or nil.
func (s *State) Resource(module ModuleInstance, addr addrs.Resource) *Resource {
	return s.table.byKey[resourceKey(module, addr)]
}

// Instance returns the instance at an address, or nil.
func (s *State) Instance(addr addrs.ResourceInstance) *Instance {
	r := s.Resource(addr.Module, addr.Resource)
	if r == nil {
		return nil
	}
	return r.Instances[addr.Key]
}

// Object returns the current object at an address, or nil.
func (s *State) Object(addr addrs.ResourceInstance) *Object {
	if inst := s.Instance(addr); inst != nil {
		return inst.Current
	}
	return nil
}

// SetObject records the current object of an instance; nil removes it.
func (s *State) SetObject(addr addrs.ResourceInstance, provider addrs.ProviderConfig, obj *Object) {
	inst := s.instance(addr)
	inst.Current = obj
	s.setInstance(addr, provider, inst)
}

// SetDeposed records a deposed object under its key; nil removes it.
func (s *State) SetDeposed(addr addrs.ResourceInstance, key string, provider addrs.ProviderConfig, obj *Object) {
	inst := s.instance(addr)
	inst.Deposed = maps.Clone(inst.Deposed)
	switch {
	case obj == nil:
		delete(inst.Deposed, key)
	case inst.Deposed == nil:
		inst.Deposed = map[string]*Object{key: obj}
	default:
		inst.Deposed[key] = obj
	}
	s.setInstance(addr, provider, inst)
}

// instance returns a copy of what is recorded of an instance, which may be nothing.
func (s *State) instance(addr addrs.ResourceInstance) Instance {
	if inst := s.Instance(addr); inst != nil {
		return *inst
	}
	return Instance{}
}

// setInstance records an instance, or removes it if it is without objects, and its
// resource if it was the last.
func (s *State) setInstance(addr addrs.ResourceInstance, provider addrs.ProviderConfig, inst Instance) {
	key := resourceKey(addr.Module, addr.Resource)
	r := s.writableResource(key)
	if inst.Current == nil && len(inst.Deposed) == 0 {
		if r == nil {
			return
		}
		if delete(r.Instances, addr.Key); len(r.Instances) == 0 {
			delete(s.writable(), key)
		}
		return
	}
	if r == nil {
		r = &Resource{Module: addr.Module, Addr: addr.Resource, Instances: map[addrs.InstanceKey]*Instance{}, owner: s.own()}
		s.writable()[key] = r
	}
	r.Provider = provider
	r.Instances[addr.Key] = &inst
}

// Each calls f for every instance, in the order of the state file.
func (s *State) Each(f func(addrs.ResourceInstance, *Resource, *Instance)) {
	for _, r := range s.Resources() {
		keys := slices.SortedFunc(maps.Keys(r.Instances), addrs.InstanceKey.Compare)
		for _, key := range keys {
			f(addrs.ResourceInstance{Module: r.Module, Resource: r.Addr, Key: key}, r, r.Instances[key])
		}
	}
}

// Count returns the number of managed current objects.
func (s *State) Count() int {
	n := 0
	for _, r := range s.table.byKey {
		if r.Addr.Mode != addrs.Managed {
			continue
		}
		for _, inst := range r.Instances {
			if inst.Current != nil {
				n++
			}
		}
	}
	return n
}

func resourceKey(module ModuleInstance, addr addrs.Resource) string {
	if len(module) == 0 {
		return addr.String()
	}
	return module.String() + "." + addr.String()
}
