package engine

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// program is a configuration compiled for walking: every declared object with
// its references resolved to other objects. It is immutable and can serve many walks.
type program struct {
	root    *moduleProgram
	objects []*object // by id
	// providers are the provider configurations in use, by address.
	providers map[string]*object
	// closures are the resources that each resource needs, see dependencies.
	closures map[*object][]string
}

// moduleProgram is one module of the static tree.
type moduleProgram struct {
	config   *configs.Config
	parent   *moduleProgram
	children map[string]*moduleProgram
	// call is the module call in the parent that leads here; nil for the root.
	call *object

	objects   []*object // this module's, by local index
	variables map[string]*object
	locals    map[string]*object
	outputs   map[string]*object
	calls     map[string]*object
	resources map[addrs.Resource]*object
}

type objectKind uint8

const (
	kindVariable objectKind = iota
	kindLocal
	kindOutput
	kindCall
	kindResource
	kindProvider
)

// object is one declaration. Which fields are set depends on kind.
type object struct {
	id    int // in the program
	local int // in its module
	kind  objectKind
	mod   *moduleProgram
	name  string

	// refs are what evaluating the object's own expressions needs. Those of a
	// variable belong to the calling module.
	refs []ref
	// repeatRefs are what count or for_each needs; resources and calls only.
	repeatRefs []ref
	// after are the objects named in depends_on.
	after []ref
	// priority is the length of the longest chain of objects that wait for this one.
	priority int

	variable *configs.Variable
	argument *hcl.Attribute // the caller's expression for a variable; nil if absent
	localVal *configs.Local
	output   *configs.Output

	callDecl *configs.ModuleCall
	child    *moduleProgram
	// usedOutputs are the outputs of the child that this module refers to.
	usedOutputs []*object

	resource *configs.Resource
	addr     addrs.ConfigResource
	schema   *providers.ResourceSchema
	provider *object
	// createFirst tells that instances are created before they are destroyed when replaced.
	createFirst bool

	providerAddr addrs.ProviderConfig
	providerDecl *configs.ProviderConfig // nil if nothing is declared
}

// ref is a resolved reference.
type ref struct {
	lang.Ref
	// target is nil for references that need no other object (count, each, path, terraform, self).
	target *object
	// output is the child's output, for a reference to one output of a module call.
	output *object
}

// String names an object for reports.
func (o *object) String() string {
	prefix := ""
	if len(o.mod.config.Path) > 0 {
		prefix = o.mod.config.Path.String() + "."
	}
	switch o.kind {
	case kindVariable:
		return prefix + "var." + o.name
	case kindLocal:
		return prefix + "local." + o.name
	case kindOutput:
		return prefix + "output." + o.name
	case kindCall:
		return prefix + "module." + o.name
	case kindProvider:
		return o.providerAddr.String()
	default:
		return o.addr.String()
	}
}

// needs yields every object that o waits for, in the static graph.
func (o *object) needs(yield func(*object)) {
	for _, refs := range [][]ref{o.refs, o.repeatRefs} {
		for _, r := range refs {
			if r.target == nil {
				continue
			}
			yield(r.target)
			if r.target.kind == kindCall {
				r.eachOutput(yield)
			}
		}
	}
	for _, r := range o.after {
		if r.target == nil {
			continue
		}
		yield(r.target)
		if r.target.kind == kindCall && r.target.child != nil {
			r.target.child.eachInside(yield)
		}
	}
	if o.provider != nil {
		yield(o.provider)
	}
	if call := o.mod.call; call != nil && o.kind != kindVariable {
		yield(call)
	}
}

// eachInside yields every object of a module and of the modules below it.
func (m *moduleProgram) eachInside(yield func(*object)) {
	for _, o := range m.objects {
		yield(o)
	}
	for _, child := range m.children {
		child.eachInside(yield)
	}
}

// eachOutput yields the outputs that a reference to a module call needs.
func (r ref) eachOutput(yield func(*object)) {
	if r.output != nil {
		yield(r.output)
		return
	}
	for _, output := range r.target.child.outputs {
		yield(output)
	}
}

// dependencies returns the addresses of all resources that a resource needs,
// directly or not, sorted, as a state records them.
func (p *program) dependencies(o *object) []string { return p.closures[o] }

// resourceClosures computes, for every object, the resources it needs. Objects
// come in an order in which each follows what it needs.
func resourceClosures(order []*object) map[*object][]string {
	sets := map[*object]map[string]struct{}{}
	out := map[*object][]string{}
	for _, o := range order {
		set := map[string]struct{}{}
		shared := true // whether set is still another object's set
		var first map[string]struct{}
		o.needs(func(need *object) {
			if need.kind == kindProvider {
				return
			}
			from := sets[need]
			if need.kind == kindResource {
				shared = false
				set[need.addr.String()] = struct{}{}
			}
			switch {
			case len(from) == 0:
			case first == nil:
				first = from
			default:
				shared = false
				for addr := range from {
					set[addr] = struct{}{}
				}
			}
		})
		if shared && first != nil {
			set = first
		} else {
			for addr := range first {
				set[addr] = struct{}{}
			}
		}
		sets[o] = set
		if o.kind == kindResource || o.kind == kindProvider {
			list := make([]string, 0, len(set))
			for addr := range set {
				list = append(list, addr)
			}
			slices.Sort(list)
			out[o] = list
		}
	}
	return out
}
