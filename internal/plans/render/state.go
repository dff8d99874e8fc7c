package render

import (
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
	first, module := true, ""
	var failed error
	state.Each(func(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance) {
		objects := map[string]*states.Object{}
		maps.Copy(objects, inst.Deposed)
		if inst.Current != nil {
			objects[""] = inst.Current
		}
		for _, deposed := range slices.Sorted(maps.Keys(objects)) {
			if !first {
				p.line("")
				if here := addr.Module.String(); here != module {
					p.line("")
				}
			}
			first, module = false, addr.Module.String()
			if err := p.object(addr, r, deposed, objects[deposed], schemas); err != nil && failed == nil {
				failed = err
			}
		}
	})
	if len(state.Outputs) > 0 {
		p.line("\n\nOutputs:\n")
		p.stateOutputs(state.Outputs)
	}
	return failed
}

// object prints one object.
func (p *printer) object(addr addrs.ResourceInstance, r *states.Resource, deposed string, obj *states.Object, schemas Schemas) error {
	schema := schemas.block(r.Provider.Provider, addr.Resource)
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
		decoded, err := ctyjson.Unmarshal(obj.AttrsJSON, ty)
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
