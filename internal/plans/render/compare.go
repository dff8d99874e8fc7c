package render

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// diff is the difference between two values: what happens to the value as a
// whole and how to write it.
type diff struct {
	action plans.Action
	// replace tells that this difference makes the provider replace the object.
	replace bool
	view    view
}

// change is a value before and after. An absent value is cty.NilVal; a null that
// is there, as an element of a map or list, is a null. Sensitive values are marked.
type change struct {
	before, after cty.Value
	// replace are the paths below this value that force replacement.
	replace []cty.Path
	// gone tells that the object as a whole is no more, although some of its values
	// count as unchanged.
	gone bool
	// noEmpty has empty texts in the value taken for nulls.
	noEmpty bool
}

// part is the change of something in the value.
func (c change) part(before, after cty.Value, replace []cty.Path) change {
	return change{before: before, after: after, replace: replace, noEmpty: c.noEmpty}
}

// seen is the change as it shows: an empty text may count as null.
func (c change) seen() change {
	if c.noEmpty {
		c.before, c.after = emptyAsNull(c.before), emptyAsNull(c.after)
	}
	return c
}

// attr is the change of an attribute.
func (c change) attr(name string) change {
	return c.part(getAttr(c.before, name), getAttr(c.after, name), c.attrPaths(name)).orAbsent()
}

// orAbsent is [orAbsent] of both values.
func (c change) orAbsent() change {
	c.before, c.after = orAbsent(c.before), orAbsent(c.after)
	return c
}

// absent tells whether there neither was a value nor is one.
func (c change) absent() bool { return absent(c.before) && absent(c.after) }

// absent tells whether there is no value.
func absent(v cty.Value) bool { return v == cty.NilVal }

// orAbsent turns nulls into absent values: an attribute that is null is not there.
func orAbsent(v cty.Value) cty.Value {
	if v == cty.NilVal {
		return v
	}
	if bare, _ := v.Unmark(); bare.IsNull() {
		return cty.NilVal
	}
	return v
}

// isNull tells whether a value is absent or null. Null values of a whole resource
// are both.
func isNull(v cty.Value) bool { return absent(orAbsent(v)) }

func isUnknown(v cty.Value) bool { return v != cty.NilVal && !v.IsKnown() }

func isSensitive(v cty.Value) bool { return v != cty.NilVal && v.HasMark(lang.Sensitive) }

func unmark(v cty.Value) cty.Value {
	if v == cty.NilVal {
		return v
	}
	bare, _ := v.Unmark()
	return bare
}

// unmarkAll takes the marks off a value and all that is in it.
func unmarkAll(v cty.Value) cty.Value {
	if v == cty.NilVal {
		return v
	}
	bare, _ := v.UnmarkDeep()
	return bare
}

// forced tells whether this very value forces replacement.
func (c change) forced() bool {
	for _, path := range c.replace {
		if len(path) == 0 {
			return true
		}
	}
	return false
}

// below returns the paths that continue with a step that matches.
func (c change) below(matches func(cty.PathStep) bool) []cty.Path {
	var out []cty.Path
	for _, path := range c.replace {
		if len(path) > 0 && matches(path[0]) {
			out = append(out, path[1:])
		}
	}
	return out
}

func (c change) attrPaths(name string) []cty.Path {
	return c.below(func(step cty.PathStep) bool {
		switch step := step.(type) {
		case cty.GetAttrStep:
			return step.Name == name
		case cty.IndexStep:
			return step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() && step.Key.AsString() == name
		default:
			return false
		}
	})
}

func (c change) indexPaths(i int) []cty.Path {
	return c.below(func(step cty.PathStep) bool {
		index, ok := step.(cty.IndexStep)
		return ok && index.Key.Type() == cty.Number && index.Key.RawEquals(cty.NumberIntVal(int64(i)))
	})
}

// action says what happens to a value by its presence and content.
func (c change) action() plans.Action {
	switch {
	case absent(c.before) && absent(c.after):
		return plans.NoOp
	case absent(c.before):
		return plans.Create
	case absent(c.after):
		return plans.Delete
	case same(c.before, c.after):
		return plans.NoOp
	default:
		return plans.Update
	}
}

// presence is the action of a collection before its elements are known.
func (c change) presence() plans.Action {
	switch {
	case isNull(c.before) && isNull(c.after):
		return plans.NoOp
	case isNull(c.before):
		return plans.Create
	case isNull(c.after):
		return plans.Delete
	default:
		return plans.NoOp
	}
}

// join is the action of a collection with one more element.
func join(current, element plans.Action) plans.Action {
	if element != plans.NoOp && element != current {
		return plans.Update
	}
	return current
}

// compareHidden handles what is the same for all types: sensitive values, whose
// difference is kept for its action only, and unknown ones. plain compares the
// values without marks; was compares what a value loses when it becomes unknown.
func compareHidden(c change, plain, was func(change) diff) (diff, bool) {
	before, after := isSensitive(c.before), isSensitive(c.after)
	if before || after {
		inner := plain(change{before: orAbsent(emptyAsNull(unmarkAll(c.before))), after: orAbsent(emptyAsNull(unmarkAll(c.after))), replace: c.replace, gone: c.gone, noEmpty: c.noEmpty})
		action := inner.action
		if action == plans.NoOp && before != after && !(absent(c.before) && absent(c.after)) {
			action = plans.Update
		}
		return diff{action, c.forced(), hidden{inner: inner.action, before: before, after: after}}, true
	}
	if !isUnknown(c.after) {
		return diff{}, false
	}
	if isNull(c.before) {
		return diff{plans.Create, c.forced(), unknown{}}, true
	}
	old := was(change{before: emptyAsNull(c.before), noEmpty: c.noEmpty})
	return diff{plans.Update, c.forced(), unknown{was: &old}}, true
}

// compareBlock compares the values of a whole object; b may be nil if the schema is unknown.
func compareBlock(b *providers.Block, c change) diff {
	if b == nil {
		return compareDynamic(c)
	}
	c.noEmpty = ofOldSDK(b)
	return compareContent(b, c)
}

// compareContent compares what is in a block.
func compareContent(b *providers.Block, c change) diff {
	plain := func(c change) diff { return compareContent(b, c) }
	becomesUnknown := func(c change) diff {
		return compareContent(b, c.part(c.before, unknownAttributes(b.Attributes, b.EmptyValue()), nil))
	}
	if d, ok := compareHidden(c, plain, becomesUnknown); ok {
		if h, sensitive := d.view.(hidden); sensitive {
			d.view = hiddenBlock(h)
		}
		return d
	}
	out := block{attrs: map[string]diff{}, groups: map[string]blockGroup{}}
	current := compareAttributes(b.Attributes, c, c.presence(), out.attrs)
	for name, nested := range b.BlockTypes {
		child := c.part(getAttr(c.before, name), getAttr(c.after, name), c.attrPaths(name))
		group, action, present := compareGroup(nested, child)
		if !present {
			continue
		}
		out.groups[name] = group
		if !group.unknown {
			current = join(current, action)
		}
	}
	return diff{current, c.forced(), out}
}

// compareAttributes compares a block's attributes into attrs, those that are null
// before and after left out; an empty text that stays counts as unchanged even if it
// is taken for null. Write-only ones have no values, so they show what
// happens to the block as a whole: they come and go with it, and never change.
func compareAttributes(attributes map[string]*providers.Attribute, c change, current plans.Action, attrs map[string]diff) plans.Action {
	whole := current
	if c.gone {
		whole = plans.Delete
	}
	for name, attr := range attributes {
		if attr.WriteOnly {
			attrs[name] = diff{whole, false, writeOnlyValue{}}
			continue
		}
		child := c.attr(name)
		d := compareAttribute(attr, child.seen().orAbsent())
		if d.action == plans.NoOp && child.absent() {
			continue
		}
		attrs[name] = d
		current = join(current, d.action)
	}
	return current
}

// ofOldSDK tells whether a resource type is made with the older SDK, which gives
// every one an id that could be configured.
func ofOldSDK(b *providers.Block) bool {
	id := b.Attributes["id"]
	return id != nil && id.Optional && id.Computed
}

// emptyAsNull takes an empty text for null: providers of the older SDK cannot
// tell the two apart.
func emptyAsNull(v cty.Value) cty.Value {
	if isText(unmark(v)) && unmark(v).AsString() == "" {
		return cty.NullVal(cty.String).WithSameMarks(v)
	}
	return v
}

func compareAttribute(attr *providers.Attribute, c change) diff {
	if attr.NestedType != nil {
		return compareNested(attr.NestedType, attr.NestedType.Nesting, c)
	}
	return compareType(attr.Type, c)
}

// compareNested compares the value of an attribute that is made of attributes.
func compareNested(o *providers.Object, nesting providers.NestingMode, c change) diff {
	plain := func(c change) diff { return compareNested(o, nesting, c) }
	becomesUnknown := func(c change) diff {
		if nesting == providers.NestingSingle {
			empty := make(map[string]cty.Value, len(o.Attributes))
			for name, attr := range o.Attributes {
				empty[name] = cty.NullVal(attr.ImpliedType())
			}
			c.after = unknownAttributes(o.Attributes, cty.ObjectVal(empty))
		}
		return compareNested(o, nesting, c)
	}
	if d, ok := compareHidden(c, plain, becomesUnknown); ok {
		return d
	}
	element := func(c change) diff { return compareNested(o, providers.NestingSingle, c) }
	switch nesting {
	case providers.NestingList:
		elems, action := compareByIndex(c, element)
		return diff{action, c.forced(), list{elems: elems}}
	case providers.NestingSet:
		elems, action := compareSets(c, element)
		return diff{action, c.forced(), set{elems: elems, nested: true}}
	case providers.NestingMap:
		elems, action := compareKeys(c, element)
		return diff{action, c.forced(), mapping{elems: elems, nested: true}}
	default:
		attrs := map[string]diff{}
		action := compareAttributes(o.Attributes, c, c.presence(), attrs)
		return diff{action, c.forced(), object{attrs: attrs, nested: true}}
	}
}

// unknownAttributes returns an object like base in which every attribute is unknown.
func unknownAttributes(attributes map[string]*providers.Attribute, base cty.Value) cty.Value {
	vals := base.AsValueMap()
	if vals == nil {
		return base
	}
	for name, attr := range attributes {
		vals[name] = cty.UnknownVal(attr.ImpliedType())
	}
	return cty.ObjectVal(vals)
}

// getAttr returns an attribute of an object, or an absent value.
func getAttr(obj cty.Value, name string) cty.Value {
	if isNull(obj) || !obj.IsKnown() || !obj.Type().IsObjectType() || !obj.Type().HasAttribute(name) {
		return cty.NilVal
	}
	return obj.GetAttr(name)
}
