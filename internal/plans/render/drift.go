package render

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plans"
)

// drift prints the objects that were found changed, if that matters for the
// plan, and tells whether it printed any. haveChanges tells whether the plan
// holds changes.
func (p *printer) drift(plan *plans.Plan, schemas Schemas, haveChanges bool) bool {
	if plan.Mode != plans.RefreshOnlyMode && !haveChanges {
		return false
	}
	var drifted []planned
	for _, c := range plan.Drift {
		if plan.Mode != plans.RefreshOnlyMode {
			c = relevantPart(c, plan.Relevant)
		}
		entry := planned{change: c, diff: compareChange(c, schemas)}
		if plan.Mode == plans.RefreshOnlyMode || entry.diff.action != plans.NoOp {
			drifted = append(drifted, entry)
		}
	}
	if len(drifted) == 0 {
		return false
	}
	p.line("\n" + p.paint.color(cyan, "Note:") + p.paint.color(bold, " Objects were changed by somebody else") + "\n")
	p.sentence("Since the last apply these objects were changed outside of it, and the plan may follow from that:")
	for _, c := range drifted {
		if c.visible() {
			p.line("\n" + p.changeText(c, true))
		}
	}
	p.line("\n")
	if plan.Mode == plans.RefreshOnlyMode {
		p.sentence("A refresh-only plan undoes none of this. Applying it records the values as they are now in the state and changes no real object.")
	} else {
		p.sentence("Where the configuration says otherwise, and ignore_changes does not cover the attribute, the plan below brings the declared values back.")
	}
	return true
}

// relevantPart returns a drifted object's change without the attributes that
// contributed nothing to the plan: those count as unchanged.
func relevantPart(c *plans.Change, relevant []plans.RelevantAttribute) *plans.Change {
	var paths []cty.Path
	for _, r := range relevant {
		if r.Resource == c.Addr.String() {
			paths = append(paths, r.Path)
		}
	}
	out := *c
	if c.After.IsNull() && !c.Before.IsNull() {
		// Each attribute is gone by itself: those that contributed nothing stay.
		gone := make(map[string]cty.Value, c.Before.LengthInt())
		for name, ty := range c.Before.Type().AttributeTypes() {
			gone[name] = cty.NullVal(ty)
		}
		c = &plans.Change{Addr: c.Addr, Before: c.Before, After: cty.ObjectVal(gone)}
	}
	out.After = restrict(c.Before, c.After, paths)
	return &out
}

// restrict returns after where paths lead and before elsewhere. Elements of sets
// and of lists without an index in a path come or stay together.
func restrict(before, after cty.Value, paths []cty.Path) cty.Value {
	c := change{before: before, after: after, replace: paths}
	switch {
	case len(paths) == 0:
		return before
	case c.forced() || isNull(before) || isNull(after):
		return after
	case before.Type().IsObjectType() || before.Type().IsMapType():
		return restrictKeys(c)
	case before.Type().IsListType() && before.Type().ElementType().IsObjectType():
		return restrictElements(c)
	default:
		return after
	}
}

func restrictKeys(c change) cty.Value {
	before, after := entries(c.before), entries(c.after)
	out := map[string]cty.Value{}
	for _, vals := range []map[string]cty.Value{before, after} {
		for key := range vals {
			was, is := before[key], after[key]
			paths := c.attrPaths(key)
			switch {
			case was != cty.NilVal && is != cty.NilVal:
				out[key] = restrict(was, is, paths)
			case was != cty.NilVal && len(paths) == 0:
				out[key] = was
			case is != cty.NilVal && len(paths) > 0:
				out[key] = is
			}
		}
	}
	if c.before.Type().IsObjectType() {
		return cty.ObjectVal(out)
	}
	if len(out) == 0 {
		return cty.MapValEmpty(c.before.Type().ElementType())
	}
	return cty.MapVal(out)
}

func restrictElements(c change) cty.Value {
	before, after := elements(c.before), elements(c.after)
	var out []cty.Value
	for i := range max(len(before), len(after)) {
		was, is := at(before, i), at(after, i)
		paths := c.indexPaths(i)
		switch {
		case was != cty.NilVal && is != cty.NilVal:
			out = append(out, restrict(was, is, paths))
		case was != cty.NilVal && len(paths) == 0:
			out = append(out, was)
		case is != cty.NilVal && len(paths) > 0:
			out = append(out, is)
		}
	}
	if len(out) == 0 {
		return cty.ListValEmpty(c.before.Type().ElementType())
	}
	if !slices.ContainsFunc(out, func(v cty.Value) bool { return !v.Type().Equals(out[0].Type()) }) {
		return cty.ListVal(out)
	}
	return cty.TupleVal(out)
}
