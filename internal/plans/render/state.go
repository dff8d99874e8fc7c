package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// state prints all objects and the outputs.
func (p *printer) state(state *states.State, schemas Schemas) error {
	if state.Empty() {
		p.line("The state records no objects.")
		return nil
	}
	var failed error
	recorded := recordedObjects(state)
	holds := map[string]bool{} // whether a module instance has objects of its own
	for _, r := range recorded {
		holds[r.addr.Module.String()] = true
	}
	for i, r := range recorded {
		begins := i == 0 || r.addr.Module.String() != recorded[i-1].addr.Module.String()
		below := slices.ContainsFunc(ancestors(r.addr.Module), func(m addrs.ModuleInstance) bool { return holds[m.String()] })
		if below || !begins {
			p.line("")
		}
		if below && begins {
			p.line("")
		}
		if err := p.object(r, schemas); err != nil && failed == nil {
			failed = err
		}
	}
	if len(state.Outputs) > 0 {
		p.line("\n\nOutputs:\n")
		p.stateOutputs(state.Outputs)
	}
	return failed
}

// recordedObject is one object of a state.
type recordedObject struct {
	addr     addrs.ResourceInstance
	provider addrs.Provider
	deposed  string // the key of a deposed object, or ""
	object   *states.Object
}

// recordedObjects lists the objects of a state as terraform shows them: those of a
// module before those of the modules below it, which are ordered by the text of
// their addresses, so that [10] comes before [2].
func recordedObjects(state *states.State) []recordedObject {
	var out []recordedObject
	state.Each(func(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance) {
		if inst.Current != nil {
			out = append(out, recordedObject{addr, r.Provider.Provider, "", inst.Current})
		}
		for _, deposed := range slices.Sorted(maps.Keys(inst.Deposed)) {
			out = append(out, recordedObject{addr, r.Provider.Provider, deposed, inst.Deposed[deposed]})
		}
	})
	slices.SortStableFunc(out, func(a, b recordedObject) int { return compareModules(a.addr.Module, b.addr.Module) })
	return out
}

func compareModules(a, b addrs.ModuleInstance) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(a[:i+1].String(), b[:i+1].String()); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// ancestors are the module instances around one, the root module first.
func ancestors(path addrs.ModuleInstance) []addrs.ModuleInstance {
	out := make([]addrs.ModuleInstance, len(path))
	for i := range path {
		out[i] = path[:i]
	}
	return out
}

// object prints one object.
func (p *printer) object(r recordedObject, schemas Schemas) error {
	addr, deposed, obj := r.addr, r.deposed, r.object
	schema := schemas.block(r.provider, addr.Resource)
	val, err := objectValue(obj, schema)
	if err != nil {
		return fmt.Errorf("decode the recorded object of %s: %w", addr, err)
	}
	remark := ""
	switch {
	case deposed != "":
		remark = fmt.Sprintf(" (deposed object %s)", deposed)
	case obj.Tainted:
		remark = " (tainted)"
	}
	kind := "resource"
	if addr.Resource.Mode == addrs.Data {
		kind = "data"
	}
	d := compareBlock(schema, change{before: val, after: val})
	p.line(fmt.Sprintf("# %s:%s", addr, remark))
	p.line(fmt.Sprintf("%s %q %q %s", kind, addr.Resource.Type, addr.Resource.Name, d.text(0, p.still())))
	return nil
}

// still is the style for values of which nothing changes.
func (p *printer) still() style { return style{paint: p.paint, noSymbols: true, all: true} }

// objectValue decodes a recorded object, with marks where it is sensitive.
func objectValue(obj *states.Object, schema *providers.Block) (cty.Value, error) {
	var val cty.Value
	if known := obj.Decoded(); known != nil {
		val = known.Value
	} else {
		ty := cty.DynamicPseudoType
		if schema != nil {
			ty = schema.ImpliedType()
		} else if implied, err := ctyjson.ImpliedType(obj.AttrsJSON); err == nil {
			ty = implied
		}
		decoded, err := states.DecodeAttributes(obj.AttrsJSON, ty)
		if err != nil {
			return cty.NilVal, err
		}
		val = decoded
	}
	paths := slices.Clone(obj.Sensitive)
	if schema != nil {
		paths = append(paths, schema.SensitivePaths(val)...)
	}
	return lang.MarkPaths(val, paths), nil
}

// outputs prints output values as expressions, in the order of their names.
func (p *printer) outputs(outputs map[string]*states.Output) {
	for _, name := range sortedKeys(outputs) {
		o := outputs[name]
		if o.Sensitive {
			p.line(name + " = <sensitive>")
			continue
		}
		p.line(name + " = " + expressionText(o.Value, 0))
	}
}

// stateOutputs prints output values as part of a state.
func (p *printer) stateOutputs(outputs map[string]*states.Output) {
	for _, name := range sortedKeys(outputs) {
		val := outputs[name].Value
		ty := unmark(val).Type()
		if outputs[name].Sensitive {
			val = val.Mark(lang.Sensitive)
		}
		d := compareType(ty, change{before: val, after: val})
		p.line(fmt.Sprintf("%s = %s", name, d.text(0, p.still())))
	}
}
