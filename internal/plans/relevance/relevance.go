// Package relevance finds which attributes of recorded objects contributed to a
// plan: those that the changed resources and outputs refer to, through any chain
// of locals, variables, outputs and resource arguments. Drift elsewhere explains
// nothing in the plan.
//
// It is not for ordering work (package engine has its own graph) and evaluates
// nothing.
//
// Start with [Attributes]. It may import plans, configs, providers, lang and addrs.
package relevance

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// Schemas returns the schema block of a resource type, or nil if there is none.
type Schemas func(provider addrs.Provider, addr addrs.Resource) *providers.Block

// Attributes lists the attributes that contributed to a plan's changes, each once,
// ordered by address and path.
func Attributes(plan *plans.Plan, config *configs.Config, schemas Schemas) []plans.RelevantAttribute {
	f := &finder{config: config, schemas: schemas, seen: map[string]bool{}, found: map[string]plans.RelevantAttribute{}}
	for _, c := range plan.Changes {
		if c.Action != plans.NoOp {
			f.resourceRefs(c.Addr.Module, c.Addr.Resource, nil)
		}
	}
	for _, addr := range plan.ForgottenData() {
		f.resourceRefs(addr.Module, addr.Resource, nil)
	}
	for module, names := range plan.ModuleOutputs {
		f.outputRefs(module, names)
	}
	for _, o := range plan.Outputs {
		if decl := config.Module.Outputs[o.Name]; decl != nil && o.Action != plans.NoOp {
			f.exprRefs(nil, decl.Expr)
		}
	}
	out := make([]plans.RelevantAttribute, 0, len(f.found))
	for _, r := range f.found {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b plans.RelevantAttribute) int {
		return strings.Compare(sortKey(a), sortKey(b))
	})
	return out
}

// outputRefs follows outputs of a module instance.
func (f *finder) outputRefs(address string, names []string) {
	module, diags := addrs.ParseModuleInstance(address)
	config := f.module(module)
	if diags.HasErrors() || config == nil {
		return
	}
	for _, name := range names {
		if output := config.Module.Outputs[name]; output != nil {
			f.exprRefs(module, output.Expr)
		}
	}
}

func sortKey(r plans.RelevantAttribute) string { return r.Resource + "\x00" + pathText(r.Path) }

// finder follows references. Each reference is followed once.
type finder struct {
	config  *configs.Config
	schemas Schemas
	seen    map[string]bool
	// repeated is the resource whose arguments are looked at.
	repeated *configs.Resource
	found    map[string]plans.RelevantAttribute
}

func (f *finder) module(path addrs.ModuleInstance) *configs.Config {
	return f.config.Descendent(path.Module())
}

func (f *finder) exprRefs(module addrs.ModuleInstance, expr hcl.Expression) {
	if expr == nil {
		return
	}
	refs, _ := lang.ExprRefs(expr) // what is no reference was reported when the plan was made
	for _, ref := range refs {
		f.follow(module, ref)
	}
}

// follow notes a reference to a resource and goes on with what the object it
// names refers to itself.
func (f *finder) follow(module addrs.ModuleInstance, ref lang.Ref) {
	key := module.String() + "|" + refKey(ref)
	if ref.Kind == lang.RefCount || ref.Kind == lang.RefEach {
		if f.repeated != nil && !f.seen[key+f.repeated.Addr.String()] {
			f.seen[key+f.repeated.Addr.String()] = true
			f.repetitionRefs(module)
		}
		return
	}
	if f.seen[key] {
		return
	}
	f.seen[key] = true
	config := f.module(module)
	if config == nil {
		return
	}
	around := f.repeated
	f.repeated = nil
	defer func() { f.repeated = around }()
	switch ref.Kind {
	case lang.RefLocal:
		if local := config.Module.Locals[ref.Name]; local != nil {
			f.exprRefs(module, local.Expr)
		}
	case lang.RefVariable:
		f.variableRefs(module, config, ref.Name)
	case lang.RefModule:
		f.moduleRefs(module, config, ref)
	case lang.RefResource:
		if config.Module.Resources[ref.Resource] == nil {
			return // the iterator of a dynamic block
		}
		f.note(module, ref)
		f.resourceRefs(module, ref.Resource, ref.Path)
	}
}

// variableRefs follows the argument of the module call that sets a variable.
func (f *finder) variableRefs(module addrs.ModuleInstance, config *configs.Config, name string) {
	if config.Parent == nil {
		return
	}
	call := config.Parent.Module.ModuleCalls[module[len(module)-1].Name]
	if call == nil {
		return
	}
	content, _, _ := call.Config.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name}}})
	if attr := content.Attributes[name]; attr != nil {
		f.exprRefs(module[:len(module)-1], attr.Expr)
	}
}

// moduleRefs follows one output of a module, or all of them.
func (f *finder) moduleRefs(module addrs.ModuleInstance, config *configs.Config, ref lang.Ref) {
	child := config.Children[ref.Name]
	if child == nil {
		return
	}
	inside := module.Child(ref.Name, ref.Literal)
	for name, output := range child.Module.Outputs {
		if ref.Output == "" || ref.Output == name {
			f.exprRefs(inside, output.Expr)
		}
	}
}

// note records a reference to a resource.
func (f *finder) note(module addrs.ModuleInstance, ref lang.Ref) {
	addr := addrs.ResourceInstance{Module: module, Resource: ref.Resource}
	if ref.Key == lang.KeyLiteral {
		addr.Key = ref.Literal
	}
	found := plans.RelevantAttribute{Resource: addr.String(), Path: toPath(ref.Path)}
	f.found[sortKey(found)] = found
}

// resourceRefs follows the arguments of a resource, or those of them that a path selects.
func (f *finder) resourceRefs(module addrs.ModuleInstance, addr addrs.Resource, path hcl.Traversal) {
	config := f.module(module)
	if config == nil {
		return
	}
	decl := config.Module.Resources[addr]
	if decl == nil {
		return
	}
	schema := f.schemas(config.Module.LocalProvider(decl.Provider.LocalName), addr)
	if schema == nil {
		return
	}
	around := f.repeated
	f.repeated = decl
	f.pathRefs(module, []hcl.Body{decl.Config}, schema, path)
	f.repeated = around
}

// repetitionRefs follows what count or for_each of the resource refers to whose
// arguments are looked at: that is where its count.index, each.key and each.value
// come from. Without them it decides how many instances there are, not what they are.
func (f *finder) repetitionRefs(module addrs.ModuleInstance) {
	decl := f.repeated
	if decl == nil {
		return
	}
	f.repeated = nil
	f.exprRefs(module, decl.Count)
	f.exprRefs(module, decl.ForEach)
	f.repeated = decl
}

func (f *finder) bodyRefs(module addrs.ModuleInstance, body hcl.Body, schema *providers.Block) {
	refs, _ := lang.BodyRefs(body, providers.BodyVariables(body, schema))
	for _, ref := range refs {
		f.follow(module, ref)
	}
}

// refKey identifies what a reference names.
func refKey(ref lang.Ref) string {
	literal := ""
	if ref.Key == lang.KeyLiteral {
		literal = ref.Literal.String()
	}
	return string(rune('0'+ref.Kind)) + ref.Name + "|" + ref.Output + "|" + ref.Resource.String() + literal + "|" + pathText(toPath(ref.Path))
}

// toPath turns a traversal into a path.
func toPath(traversal hcl.Traversal) cty.Path {
	path := make(cty.Path, 0, len(traversal))
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			path = path.GetAttr(step.Name)
		case hcl.TraverseIndex:
			path = path.Index(step.Key)
		}
	}
	return path
}

func pathText(path cty.Path) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			b.WriteString("." + step.Name)
		case cty.IndexStep:
			if key, ok := addrs.ParseInstanceKey(step.Key); ok {
				b.WriteString(key.String())
			}
		}
	}
	return b.String()
}
