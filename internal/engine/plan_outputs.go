package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plans"
)

// outputChanges compares root outputs with the recorded ones.
func (p *planner) outputChanges() []*plans.OutputChange {
	var out []*plans.OutputChange
	seen := map[string]bool{}
	for _, name := range sortedNames(p.walk.prog.root.outputs) {
		o := p.walk.prog.root.outputs[name]
		seen[name] = true
		recorded := p.prior.Outputs[name]
		if p.opts.Mode == plans.DestroyMode && (recorded == nil || p.target != nil) {
			continue // nothing to remove, or what is left may still be shown
		}
		change := &plans.OutputChange{Name: name, Before: cty.NullVal(cty.DynamicPseudoType), After: cty.NullVal(cty.DynamicPseudoType), Sensitive: o.output.Sensitive}
		if recorded != nil {
			change.Before = recorded.Value
			change.Sensitive = change.Sensitive || recorded.Sensitive
		}
		if p.opts.Mode != plans.DestroyMode {
			val := p.walk.root.slots[o.local].value
			if val == cty.NilVal {
				continue
			}
			change.After, _ = val.UnmarkDeep()
		}
		change.Action = outputAction(change.Before, change.After)
		if p.opts.Mode == plans.DestroyMode && change.Action == plans.Update {
			change.Action = plans.Delete
		}
		switch {
		case recorded == nil:
		case change.Action == plans.NoOp && recorded.Sensitive != o.output.Sensitive:
			change.Action = plans.Update
		case change.Action == plans.Create: // there is one, and it is null
			change.Action = plans.Update
		}
		out = append(out, change)
	}
	for _, name := range sortedNames(p.prior.Outputs) {
		if !seen[name] && p.target == nil {
			recorded := p.prior.Outputs[name]
			out = append(out, &plans.OutputChange{Name: name, Action: plans.Delete, Before: recorded.Value, After: cty.NullVal(cty.DynamicPseudoType), Sensitive: recorded.Sensitive})
		}
	}
	slices.SortFunc(out, func(a, b *plans.OutputChange) int { return compareText(a.Name, b.Name) })
	return out
}

func outputAction(before, after cty.Value) plans.Action {
	switch {
	case before.IsNull() && after.IsNull():
		return plans.NoOp
	case before.IsNull():
		return plans.Create
	case before.RawEquals(after):
		return plans.NoOp
	default:
		return plans.Update
	}
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// moduleOutputs collects the outputs of the modules below that have a value.
func (mi *moduleInst) moduleOutputs(into map[string][]string) {
	for _, call := range mi.prog.calls {
		set := mi.slots[call.local].children
		if set == nil {
			continue
		}
		for _, child := range set.byKey {
			var names []string
			for name, o := range child.prog.outputs {
				if val := child.slots[o.local].value; val != cty.NilVal && !isNull(val) {
					names = append(names, name)
				}
			}
			if len(names) > 0 {
				slices.Sort(names)
				into[child.path.String()] = names
			}
			child.moduleOutputs(into)
		}
	}
}

func isNull(val cty.Value) bool {
	val, _ = val.Unmark()
	return val.IsKnown() && val.IsNull()
}
