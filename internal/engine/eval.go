package engine

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// evalOptions is what an evaluation has beyond its module instance.
type evalOptions struct {
	repeat repetition
	// self is the value of self, or NilVal.
	self cty.Value
	// owner is the resource that self is an instance of, if references to it by name mean self.
	owner *object
	// want is the type to convert to; the zero value means any.
	want cty.Type
}

// eval evaluates an expression whose references are given.
func (mi *moduleInst) eval(expr hcl.Expression, refs []ref, opts evalOptions) (cty.Value, tfdiags.Diagnostics) {
	hclCtx, diags := mi.evalContext(refs, opts)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	val, hclDiags := expr.Value(hclCtx)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	if opts.want != cty.NilType && !hclDiags.HasErrors() {
		converted, err := convert.Convert(val, opts.want)
		if err != nil {
			return cty.UnknownVal(opts.want), append(diags, tfdiags.At(expr.Range(), "Incorrect value type",
				fmt.Sprintf("The value does not have the required type: %s.", err))...)
		}
		val = converted
	}
	return val, diags
}

// evalContext collects the values that references need.
func (mi *moduleInst) evalContext(refs []ref, opts evalOptions) (*hcl.EvalContext, tfdiags.Diagnostics) {
	b := contextBuilder{mi: mi, opts: opts, roots: map[string]cty.Value{}}
	var diags tfdiags.Diagnostics
	for _, r := range refs {
		diags = append(diags, b.add(r)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return &hcl.EvalContext{Variables: b.finish(), Functions: mi.walk.functionsOf(mi.prog)}, diags
}

// contextBuilder groups values by the root names under which expressions find them.
type contextBuilder struct {
	mi    *moduleInst
	opts  evalOptions
	roots map[string]cty.Value
	// groups hold the attributes of root objects that are put together: var,
	// local, path, module and the resource types.
	groups map[string]map[string]cty.Value
	// modes holds the types below "data" and "ephemeral".
	modes map[string]map[string]map[string]cty.Value
	// partial notes objects of which only some instances are in the context so far.
	partial map[*object]map[string]cty.Value
	whole   map[*object]bool
}

func (b *contextBuilder) add(r ref) tfdiags.Diagnostics {
	switch r.Kind {
	case lang.RefVariable, lang.RefLocal:
		if val := b.mi.slots[r.target.local].value; val != cty.NilVal {
			b.set(map[lang.RefKind]string{lang.RefVariable: "var", lang.RefLocal: "local"}[r.Kind], r.Name, val)
		} else {
			b.set(map[lang.RefKind]string{lang.RefVariable: "var", lang.RefLocal: "local"}[r.Kind], r.Name, cty.DynamicVal)
		}
	case lang.RefModule:
		b.addModule(r)
	case lang.RefResource:
		if b.opts.owner != nil && r.target == b.opts.owner {
			b.set(r.Resource.Type, r.Resource.Name, b.opts.self)
			return nil
		}
		b.addResource(r)
	case lang.RefPath:
		b.set("path", r.Name, b.mi.pathValue(r.Name))
	case lang.RefTerraform:
		b.set("terraform", r.Name, b.mi.walk.terraformValue(r.Name))
	case lang.RefCount, lang.RefEach:
		return b.addRepeat(r)
	case lang.RefSelf:
		if b.opts.self == cty.NilVal {
			return tfdiags.At(r.Range, "Invalid \"self\" reference",
				"The self object is available only in postconditions, provisioners and connection blocks.")
		}
		b.roots["self"] = b.opts.self
	}
	return nil
}

func (b *contextBuilder) set(root, name string, val cty.Value) {
	if b.groups == nil {
		b.groups = map[string]map[string]cty.Value{}
	}
	if b.groups[root] == nil {
		b.groups[root] = map[string]cty.Value{}
	}
	b.groups[root][name] = val
}

func (b *contextBuilder) addRepeat(r ref) tfdiags.Diagnostics {
	repeat := b.opts.repeat
	if r.Kind == lang.RefCount {
		if repeat.mode != repeatCount {
			return tfdiags.At(r.Range, `Reference to "count" in non-counted context`,
				`The "count" object can be used only in blocks in which the "count" argument is set.`)
		}
		val := repeat.key.Value()
		if repeat.unknown {
			val = cty.UnknownVal(cty.Number).RefineNotNull()
		}
		b.set("count", "index", val)
		return nil
	}
	if repeat.mode != repeatEach {
		return tfdiags.At(r.Range, `Reference to "each" in context without for_each`,
			`The "each" object can be used only in blocks in which the "for_each" argument is set.`)
	}
	key, val := repeat.key.Value(), repeat.value
	if repeat.unknown {
		key, val = cty.UnknownVal(cty.String).RefineNotNull(), cty.DynamicVal
	}
	b.set("each", "key", key)
	b.set("each", "value", val)
	return nil
}

// addResource adds a whole resource, or only the instance that is meant.
func (b *contextBuilder) addResource(r ref) {
	s := &b.mi.slots[r.target.local]
	if b.whole[r.target] {
		return
	}
	var val cty.Value
	if inst := s.single(r, b.opts.repeat); inst != nil && s.instances.mode != repeatNone {
		if b.partial == nil {
			b.partial = map[*object]map[string]cty.Value{}
		}
		if b.partial[r.target] == nil {
			b.partial[r.target] = map[string]cty.Value{}
		}
		b.partial[r.target][keyName(inst.addr.Key)] = orDynamic(inst.value)
		val = cty.ObjectVal(b.partial[r.target])
	} else {
		if b.whole == nil {
			b.whole = map[*object]bool{}
		}
		b.whole[r.target] = true
		val = b.mi.resourceValue(r.target)
	}
	if r.Resource.Mode == addrs.Managed {
		b.set(r.Resource.Type, r.Resource.Name, val)
		return
	}
	root := map[addrs.ResourceMode]string{addrs.Data: "data", addrs.Ephemeral: "ephemeral"}[r.Resource.Mode]
	if b.modes == nil {
		b.modes = map[string]map[string]map[string]cty.Value{}
	}
	if b.modes[root] == nil {
		b.modes[root] = map[string]map[string]cty.Value{}
	}
	if b.modes[root][r.Resource.Type] == nil {
		b.modes[root][r.Resource.Type] = map[string]cty.Value{}
	}
	b.modes[root][r.Resource.Type][r.Resource.Name] = val
}

// keyName is the attribute under which a single instance is put into an object
// that stands for the whole: HCL converts index keys to it.
func keyName(key addrs.InstanceKey) string {
	if n, ok := key.Int(); ok {
		return fmt.Sprint(n)
	}
	text, _ := key.Text()
	return text
}

// addModule adds the outputs of a module call that a reference needs.
func (b *contextBuilder) addModule(r ref) {
	outputs := map[*object]bool{}
	r.eachOutput(func(o *object) { outputs[o] = true })
	// Further references to the same call in this context must see their outputs too.
	for o := range b.whole {
		if o.kind == kindOutput && o.mod == r.target.child {
			outputs[o] = true
		}
	}
	if b.whole == nil {
		b.whole = map[*object]bool{}
	}
	for o := range outputs {
		b.whole[o] = true
	}
	b.set("module", r.Name, b.mi.callValue(r.target, outputs))
}

// finish builds the root objects.
func (b *contextBuilder) finish() map[string]cty.Value {
	for root, attrs := range b.groups {
		b.roots[root] = cty.ObjectVal(attrs)
	}
	for root, byType := range b.modes {
		types := make(map[string]cty.Value, len(byType))
		for typeName, resources := range byType {
			types[typeName] = cty.ObjectVal(resources)
		}
		b.roots[root] = cty.ObjectVal(types)
	}
	return b.roots
}

// resourceValue returns the value of all instances of a resource, built once.
func (mi *moduleInst) resourceValue(o *object) cty.Value {
	set := mi.slots[o.local].instances
	if set == nil { // not part of this walk
		return cty.DynamicVal
	}
	set.once.Do(func() {
		switch set.mode {
		case repeatNone:
			set.whole = orDynamic(set.byKey[addrs.NoKey].value)
		case repeatCount:
			elems := make([]cty.Value, len(set.keys))
			for i, key := range set.keys {
				elems[i] = o.orUnknown(set.byKey[key].value)
			}
			set.whole = cty.TupleVal(elems)
		case repeatEach:
			attrs := make(map[string]cty.Value, len(set.keys))
			for _, key := range set.keys {
				attrs[keyName(key)] = o.orUnknown(set.byKey[key].value)
			}
			set.whole = cty.ObjectVal(attrs)
		}
		if mi.walk.validating() && set.mode != repeatNone {
			set.whole = cty.DynamicVal
			if o.isEphemeral() {
				set.whole = set.whole.Mark(lang.Ephemeral)
			}
		}
	})
	return set.whole
}

// orUnknown is the value of one of several instances: of one that this walk leaves
// out, only its type is known.
func (o *object) orUnknown(v cty.Value) cty.Value {
	if v = orDynamic(v); v == cty.DynamicVal && o.schema != nil {
		return cty.UnknownVal(o.schema.Block.ImpliedType())
	}
	return v
}

func orDynamic(v cty.Value) cty.Value {
	if v == cty.NilVal {
		return cty.DynamicVal
	}
	return v
}

// callValue returns the value of a module call with the given outputs only.
func (mi *moduleInst) callValue(call *object, outputs map[*object]bool) cty.Value {
	set := mi.slots[call.local].children
	if set == nil || (mi.walk.validating() && set.mode != repeatNone) {
		return cty.DynamicVal
	}
	one := func(key addrs.InstanceKey) cty.Value {
		attrs := make(map[string]cty.Value, len(outputs))
		for o := range outputs {
			attrs[o.name] = orDynamic(set.byKey[key].slots[o.local].value)
			if mi.walk.validating() { // terraform does not look into modules then
				attrs[o.name] = lang.DropEphemeral(attrs[o.name])
			}
		}
		return cty.ObjectVal(attrs)
	}
	switch set.mode {
	case repeatCount:
		elems := make([]cty.Value, len(set.keys))
		for i, key := range set.keys {
			elems[i] = one(key)
		}
		return cty.TupleVal(elems)
	case repeatEach:
		attrs := make(map[string]cty.Value, len(set.keys))
		for _, key := range set.keys {
			attrs[keyName(key)] = one(key)
		}
		return cty.ObjectVal(attrs)
	default:
		return one(addrs.NoKey)
	}
}

func (mi *moduleInst) pathValue(name string) cty.Value {
	switch name {
	case "cwd":
		wd, err := os.Getwd()
		if err != nil {
			return cty.UnknownVal(cty.String)
		}
		return cty.StringVal(filepath.ToSlash(wd))
	case "module":
		return cty.StringVal(filepath.ToSlash(mi.prog.config.Module.Dir))
	default:
		return cty.StringVal(filepath.ToSlash(mi.walk.prog.root.config.Module.Dir))
	}
}

// terraformValue is an attribute of the terraform object.
func (w *walk) terraformValue(name string) cty.Value {
	if name != "applying" {
		return cty.StringVal(w.workspace)
	}
	if w.validating() {
		return cty.UnknownVal(cty.Bool).Mark(lang.Ephemeral)
	}
	_, applying := w.op.(*applier)
	return cty.BoolVal(applying).Mark(lang.Ephemeral) // it differs between plan and apply
}

func (mi *moduleInst) evalLocal(o *object) tfdiags.Diagnostics {
	val, diags := mi.eval(o.localVal.Expr, o.refs, evalOptions{})
	mi.slots[o.local].value = val
	mi.stays(o)
	return diags
}

func (mi *moduleInst) evalOutput(o *object) tfdiags.Diagnostics {
	diags := mi.checkRules(checked{object: o}, o.output.Preconditions, "Module output value precondition failed", o.refs, evalOptions{})
	if diags.HasErrors() {
		return diags
	}
	val, moreDiags := mi.eval(o.output.Expr, o.refs, evalOptions{})
	diags = append(diags, moreDiags...)
	if mi.parent == nil && !o.output.Sensitive && lang.ContainsSensitive(val) && !diags.HasErrors() {
		diags = append(diags, tfdiags.At(o.output.Range, "Output refers to sensitive values",
			"To keep secrets from being shown by accident, a root module output that holds sensitive values must say sensitive = true. Add that, or use nonsensitive() if the value is no secret.")...)
	}
	if moreDiags = checkEphemeralOutput(o, val, moreDiags); moreDiags.HasErrors() {
		return append(diags, moreDiags...) // what must not be kept is not in the plan
	}
	if o.output.Sensitive {
		val = val.Mark(lang.Sensitive)
	}
	mi.slots[o.local].value = val
	mi.stays(o)
	return diags
}

// checkEphemeralOutput compares whether an output may be ephemeral with whether
// its value is. Nothing is said of a value that could not be evaluated.
func checkEphemeralOutput(o *object, val cty.Value, evaluated tfdiags.Diagnostics) tfdiags.Diagnostics {
	switch {
	case evaluated.HasErrors():
		return nil
	case !o.output.Ephemeral && lang.ContainsEphemeral(val):
		return tfdiags.At(o.output.Expr.Range(), "Ephemeral value not allowed",
			"The value comes from something ephemeral, but the output does not say that it is. In a module that others call, add ephemeral = true; otherwise use another value, or ephemeralasnull().")
	case o.output.Ephemeral && !val.HasMark(lang.Ephemeral):
		return tfdiags.At(o.output.Expr.Range(), "Value not allowed in ephemeral output",
			"The output says that it is ephemeral, but its value is not. Remove the argument ephemeral, or use an ephemeral value.")
	}
	return nil
}
