package engine

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// wantedImport is one object that an import block asks for.
type wantedImport struct {
	addr addrs.ResourceInstance
	id   string
	at   hcl.Range
	// adopted tells that a declared instance took the object.
	adopted bool
}

// declareImports makes the objects of the root module's import blocks.
func (c *compiler) declareImports(m *moduleProgram) {
	for _, decl := range m.config.Module.Imports {
		c.add(m, &object{kind: kindImport, name: decl.To.Config().String(), importDecl: decl})
	}
}

// resolveImport finds what an import refers to, and the resource that waits for it.
func (c *compiler) resolveImport(o *object) {
	decl := o.importDecl
	o.repeatRefs = c.exprRefs(o.mod, decl.ForEach)
	o.refs = c.exprRefs(o.mod, decl.ID)
	for _, key := range importKeys(decl.To) {
		o.refs = append(o.refs, c.exprRefs(o.mod, key)...)
	}
	m := c.program.root
	for _, step := range decl.To.Modules {
		if m = m.children[step.Name]; m == nil {
			return
		}
	}
	target := m.resources[decl.To.Resource]
	if target == nil {
		if len(decl.To.Modules) == 0 { // configuration may be written for it
			o.provider = c.providerFor(o.mod, decl.Provider, decl.Range, decl.To.Resource.String())
		}
		return
	}
	o.importing = target
	target.imports = append(target.imports, o)
	if repeated := target.resource.Count != nil || target.resource.ForEach != nil; repeated != (decl.To.Key != nil) {
		detail := "%s has neither count nor for_each, so its only instance has no key. Leave the key out."
		if repeated {
			detail = "%s has count or for_each, so an instance is named by its key. Add the key of the instance."
		}
		c.diags = append(c.diags, tfdiags.At(decl.To.Range, "Invalid import 'to' expression", fmt.Sprintf(detail, target.addr))...)
	}
}

func importKeys(to configs.ImportTarget) []hcl.Expression {
	var out []hcl.Expression
	for _, step := range to.Modules {
		if step.Key != nil {
			out = append(out, step.Key)
		}
	}
	if to.Key != nil {
		out = append(out, to.Key)
	}
	return out
}

// evalImport evaluates an import block, when a plan that may import is made.
func (mi *moduleInst) evalImport(o *object) tfdiags.Diagnostics {
	if mi.walk.validating() {
		return mi.validateImport(o)
	}
	p, planning := mi.walk.op.(*planner)
	if !planning || p.opts.Mode != plans.NormalMode {
		return nil
	}
	keys, _, repeats, diags := mi.repetitions(nil, o.importDecl.ForEach, o.repeatRefs)
	if diags.HasErrors() {
		return diags
	}
	for i := range keys {
		opts := evalOptions{repeat: repeats(i)}
		addr, moreDiags := mi.importAddr(o, opts)
		diags = append(diags, moreDiags...)
		id, moreDiags := mi.importID(o, opts)
		diags = append(diags, moreDiags...)
		if !diags.HasErrors() {
			diags = append(diags, p.wantImport(&wantedImport{addr: addr, id: id, at: o.importDecl.To.Range})...)
		}
	}
	return diags
}

// validateImport checks what is known of an import block before anything is planned.
func (mi *moduleInst) validateImport(o *object) tfdiags.Diagnostics {
	decl := o.importDecl
	if o.importing == nil && len(decl.To.Modules) > 0 {
		return notDeclared(decl.To.Range, decl.To.Config().String())
	}
	if decl.ForEach != nil || len(o.refs) > 0 {
		return nil
	}
	_, diags := mi.importID(o, evalOptions{})
	return diags
}

func notDeclared(at hcl.Range, name string) tfdiags.Diagnostics {
	return tfdiags.At(at, "Configuration for import target does not exist",
		fmt.Sprintf("An object can only be imported for an instance that is declared, and %s is not. Write the resource block, have it written with -generate-config-out, or correct the address.", name))
}

// importAddr evaluates the keys of an import's address.
func (mi *moduleInst) importAddr(o *object, opts evalOptions) (addrs.ResourceInstance, tfdiags.Diagnostics) {
	to := o.importDecl.To
	out := addrs.ResourceInstance{Resource: to.Resource}
	var diags tfdiags.Diagnostics
	key := func(expr hcl.Expression) addrs.InstanceKey {
		if expr == nil {
			return addrs.NoKey
		}
		val, moreDiags := mi.eval(expr, o.refs, opts)
		diags = append(diags, moreDiags...)
		val, _ = val.Unmark()
		key, ok := addrs.ParseInstanceKey(val)
		if !ok && !moreDiags.HasErrors() {
			diags = append(diags, tfdiags.At(expr.Range(), "Invalid import 'to' expression",
				"An instance key is a whole number or a text, and it must be known while planning.")...)
		}
		return key
	}
	for _, step := range to.Modules {
		out.Module = append(out.Module, addrs.ModuleStep{Name: step.Name, Key: key(step.Key)})
	}
	out.Key = key(to.Key)
	return out, diags
}

// importID evaluates the id by which the provider knows the object.
func (mi *moduleInst) importID(o *object, opts evalOptions) (string, tfdiags.Diagnostics) {
	expr := o.importDecl.ID
	bad := func(detail string) (string, tfdiags.Diagnostics) {
		return "", tfdiags.At(expr.Range(), "Invalid import id argument", detail)
	}
	opts.want = cty.String
	val, diags := mi.eval(expr, o.refs, opts)
	if diags.HasErrors() {
		return "", diags
	}
	if lang.ContainsSensitive(val) {
		return bad("The id is sensitive, and it would be shown in plans. Use nonsensitive() if it is no secret.")
	}
	val, _ = val.Unmark()
	switch {
	case val.IsNull():
		return bad("The id is null, so it names no object. Give the id by which the provider knows the object.")
	case !val.IsKnown():
		return bad("The id is known only after apply, so the object cannot be read while planning. Use a value that is known, or apply what it depends on first with -target.")
	case val.AsString() == "":
		return bad("The id is empty, so it names no object. Give the id by which the provider knows the object.")
	}
	return val.AsString(), nil
}

// wantImport notes an import, unless an object is recorded there already.
func (p *planner) wantImport(want *wantedImport) tfdiags.Diagnostics {
	name := want.addr.String()
	if p.prior.Object(want.addr) != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.imports[name]; other != nil {
		return tfdiags.At(want.at, fmt.Sprintf("Duplicate import configuration for %q", name),
			fmt.Sprintf("Another import block at %s asks for an object at the same address, and an instance can have one only. Remove one of the blocks.", other.at))
	}
	p.imports[name] = want
	return nil
}

// importFor returns the import that an instance has to take, or nil.
func (p *planner) importFor(inst *instance) *wantedImport {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.imports[inst.name]
}

// waitForImports makes an instance wait for the import blocks of its resource.
func (p *planner) waitForImports(inst *instance) {
	for _, o := range inst.object.imports {
		p.walk.sched.Depend(inst.node, p.walk.root.slots[o.local].node)
	}
}

// adopt imports an object and plans its instance with it.
func (p *planner) adopt(ctx context.Context, inst *instance, run *providerRun, ev evaluated, want *wantedImport) tfdiags.Diagnostics {
	want.adopted = true
	p.engine.hook.Refreshing(inst.addr, want.id)
	obj, diags := importObject(ctx, run.clientFor(p.walk.prog, inst.addr.Module), inst.addr, inst.object.schema, want.id, nil)
	p.engine.hook.Refreshed(inst.addr)
	if diags.HasErrors() {
		return diags
	}
	read := &objectRead{run: run, addr: inst.addr, schema: inst.object.schema, declared: inst.object, was: obj, now: obj}
	p.mu.Lock()
	p.refreshed.SetObject(inst.addr, run.object.providerAddr, obj)
	p.mu.Unlock()
	return append(diags, p.planManaged(ctx, inst, run, read, ev)...)
}

// importStep is the step of an instance that takes an imported object.
func (p *planner) importStep(inst *instance, run *providerRun, ev evaluated, want *wantedImport) *dag.Step {
	return &dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
		diags := p.adopt(ctx, inst, run, ev, want)
		failed := p.walk.report(locate(diags, inst.name, inst.object.resource.Config))
		return nil, !failed && !p.walk.report(inst.postconditions())
	}}
}

// homelessImports refuses imports for instances that are not declared.
func (p *planner) homelessImports() tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, name := range sortedNames(p.imports) {
		want := p.imports[name]
		if want.adopted || !p.target.includesRecorded(want.addr) || p.walk.instanceExists(want.addr) {
			continue
		}
		diags = append(diags, notDeclared(want.at, name)...)
	}
	return diags
}

// instanceExists tells whether the walk met a declared instance.
func (w *walk) instanceExists(addr addrs.ResourceInstance) bool {
	e := moveEnd{resource: addr.Resource, key: addr.Key}
	for _, step := range addr.Module {
		e.modules = append(e.modules, moveStep{name: step.Name, key: step.Key})
	}
	_, _, found := w.root.declares(e)
	return found
}
