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
	// valid tells that the program was validated and no error was found, see mistakes.
	valid   bool
	root    *moduleProgram
	objects []*object // by id
	// order has every object after what it needs.
	order []*object
	// providers are the provider configurations in use, by address.
	providers map[string]*object
	// callers are the modules that call functions of providers.
	callers []*moduleProgram
	// closures are the resources that each resource needs, see dependencies.
	closures map[*object][]string
	// ephemeralUsers are, for each ephemeral resource, the objects that need it,
	// directly or not.
	ephemeralUsers map[*object][]*object
	// plain tells that a plan can be replayed, see repeats.
	plain bool
	// opens tells that there are ephemeral resources.
	opens bool
	// removals are the removed blocks of all modules.
	removals []removal
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
	// metas are what the module tells providers about itself.
	metas map[addrs.Provider]providerMeta
	// functions are those of providers that the module may call, by full name.
	functions map[string]callable
}

type objectKind uint8

const (
	kindVariable objectKind = iota
	kindLocal
	kindOutput
	kindCall
	kindResource
	kindProvider
	kindImport
	kindCheck
	kindList
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
	// postRefs are what the postconditions of a resource need; those that must be
	// waited for are among refs as well.
	postRefs []ref
	// ruleRefs are what the validation rules of a variable need, in its own module,
	// the variable itself among it.
	ruleRefs []ref
	// broken tells that the object was found to be wrong: it has no references and
	// perhaps no schema, and all that a walk can do with it is to fail it.
	broken bool
	// pure tells that the object's expressions depend on their references only.
	pure bool
	// repeatRefs are what count or for_each needs; resources and calls only.
	repeatRefs []ref
	// after are the objects named in depends_on.
	after    []ref
	variable *configs.Variable
	argument *hcl.Attribute // the caller's expression for a variable; nil if absent
	localVal *configs.Local
	output   *configs.Output

	callDecl *configs.ModuleCall
	child    *moduleProgram
	// usedOutputs are the outputs of the child that this module refers to.
	usedOutputs []*object

	resource     *configs.Resource
	addr         addrs.ConfigResource
	schema       *providers.ResourceSchema
	provider     *object
	provisioners []provisioner
	// createFirst tells that instances are created before they are destroyed when replaced.
	createFirst bool
	// imports are the import blocks that may concern instances of a resource.
	imports    []*object
	importDecl *configs.Import
	// importing is the resource that an import block is for, if it is declared.
	importing *object
	check     *configs.Check
	// list is a list block; schema is that of its configuration.
	list *configs.List

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
	case kindImport:
		return "import of " + o.name
	case kindCheck:
		return prefix + "check." + o.name
	case kindList:
		return o.name
	default:
		return o.addr.String()
	}
}

// needs yields every object that o waits for, in the static graph.
func (o *object) needs(yield func(*object)) {
	for _, refs := range [][]ref{o.refs, o.repeatRefs, o.ruleRefs} {
		for _, r := range refs {
			if r.target == nil || r.target == o && o.kind == kindVariable {
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
	for _, block := range o.imports {
		yield(block)
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

// dependencies returns the addresses of the resources that an object needs,
// sorted, as a state records them (see resourceClosures).
func (p *program) dependencies(o *object) []string { return p.closures[o] }

// maxClosure is the largest number of dependencies that a state records for one
// object. Terraform records all that a resource needs, directly or not, which
// grows with the square of a chain's length; beyond this bound only what is
// needed directly is recorded, and the order of destruction follows from step to step.
const maxClosure = 250

// needSet is the resources that an object needs, as sorted object ids. The slices
// are immutable and shared where one object adds nothing to another's.
type needSet struct {
	// all holds everything, directly or not; nil once it is larger than maxClosure.
	all      []int32
	overflow bool
	// direct holds the nearest resources only.
	direct []int32
}

// resourceClosures computes, for resources and provider configurations, the
// resources they need. Objects come in an order in which each follows what it needs.
func resourceClosures(objects, order []*object) map[*object][]string {
	sets := make([]needSet, len(objects))
	out := map[*object][]string{}
	for _, o := range order {
		set := joinNeeds(o, sets)
		sets[o.id] = set
		if o.kind == kindResource || o.kind == kindProvider {
			out[o] = set.addresses(objects)
		}
	}
	return out
}

// joinNeeds puts together what an object's needs need.
func joinNeeds(o *object, sets []needSet) needSet {
	var set needSet
	o.needs(func(need *object) {
		from := sets[need.id]
		switch need.kind {
		case kindResource:
			itself := []int32{int32(need.id)} //nolint:gosec // there are fewer objects than that
			set.direct = union(set.direct, itself)
			set.all = union(union(set.all, from.all), itself)
		default:
			set.direct = union(set.direct, from.direct)
			set.all = union(set.all, from.all)
		}
		if set.overflow = set.overflow || from.overflow || len(set.all) > maxClosure; set.overflow {
			set.all = nil
		}
	})
	return set
}

// union joins two sorted sets; it returns one of them if the other adds nothing.
func union(a, b []int32) []int32 {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	case &a[0] == &b[0] && len(a) == len(b):
		return a
	}
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// addresses lists a set as a state records it.
func (s needSet) addresses(objects []*object) []string {
	ids := s.all
	if s.overflow {
		ids = s.direct
	}
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = objects[id].name
	}
	slices.Sort(out)
	return out
}
