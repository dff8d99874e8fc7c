package render

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plans"
)

// compareType compares values of a type that the schema fixes.
func compareType(ty cty.Type, c change) diff {
	if ty == cty.DynamicPseudoType {
		return compareDynamic(c)
	}
	plain := func(c change) diff { return compareType(ty, c) }
	c = c.seen()
	if d, ok := compareHidden(c, plain, plain); ok {
		return d
	}
	switch {
	case ty.IsListType():
		objects := ty.ElementType().IsObjectType()
		elems, action := compareSequence(c, func(_, _ cty.Value) bool { return objects }, ofType(ty.ElementType()))
		return diff{action, c.forced(), list{elems: elems, context: true}}
	case ty.IsSetType():
		elems, action := compareSets(c, ofType(ty.ElementType()))
		return diff{action, c.forced(), set{elems: elems}}
	case ty.IsMapType():
		elems, action := compareKeys(c, ofType(ty.ElementType()))
		return diff{action, c.forced(), mapping{elems: elems}}
	case ty.IsObjectType():
		return compareObject(ty, c)
	case ty.IsTupleType():
		types := ty.TupleElementTypes()
		i := -1
		elems, action := compareByIndex(c, func(c change) diff {
			i++
			return compareType(types[i], c)
		})
		return diff{action, c.forced(), list{elems: elems, context: true}}
	default:
		return diff{c.action(), c.forced(), scalar{c.before, c.after}}
	}
}

func ofType(ty cty.Type) func(change) diff {
	return func(c change) diff { return compareType(ty, c) }
}

func compareObject(ty cty.Type, c change) diff {
	attrs := map[string]diff{}
	action := c.presence()
	for name, aty := range ty.AttributeTypes() {
		child := c.attr(name)
		d := compareType(aty, child.seen().orAbsent())
		if d.action == plans.NoOp && child.absent() {
			continue
		}
		attrs[name] = d
		action = join(action, d.action)
	}
	return diff{action, c.forced(), object{attrs: attrs}}
}

// kind is what a value of no fixed type looks like, in the terms of JSON.
type kind uint8

const (
	kindNull kind = iota
	kindText
	kindNumber
	kindBool
	kindArray
	kindObject
)

func kindOf(v cty.Value) kind {
	switch ty := v.Type(); {
	case v.IsNull():
		return kindNull
	case ty == cty.String:
		return kindText
	case ty == cty.Number:
		return kindNumber
	case ty == cty.Bool:
		return kindBool
	case ty.IsObjectType() || ty.IsMapType():
		return kindObject
	default:
		return kindArray
	}
}

// compareDynamic compares values that may be of any types, as those of outputs.
// That such a value forces replacement shows at sensitive and unknown ones only,
// as in Terraform.
func compareDynamic(c change) diff {
	if d, ok := compareHidden(c, compareDynamic, compareDynamic); ok {
		return d
	}
	c.replace = nil
	switch {
	case absent(c.before) && absent(c.after):
		return diff{plans.NoOp, c.forced(), scalar{c.before, c.after}}
	case absent(c.before):
		return compareKind(kindOf(c.after), c)
	case absent(c.after) || kindOf(c.before) == kindOf(c.after):
		return compareKind(kindOf(c.before), c)
	default:
		was := compareKind(kindOf(c.before), c.part(c.before, cty.NilVal, nil))
		now := compareKind(kindOf(c.after), c.part(cty.NilVal, c.after, nil))
		return diff{plans.Update, c.forced(), retyped{was, now}}
	}
}

func compareKind(k kind, c change) diff {
	switch k {
	case kindArray:
		elems, action := compareSequence(c, bothObjects, compareDynamic)
		return diff{action, c.forced(), list{elems: elems, context: true}}
	case kindObject:
		elems, action := compareKeys(c, compareDynamic)
		return diff{action, c.forced(), object{attrs: elems}}
	default:
		return diff{c.action(), c.forced(), scalar{c.before, c.after}}
	}
}

func bothObjects(a, b cty.Value) bool {
	a, b = unmark(a), unmark(b)
	return a.IsKnown() && b.IsKnown() && kindOf(a) == kindObject && kindOf(b) == kindObject
}

// elements returns the elements of a list, set or tuple in their order.
func elements(v cty.Value) []cty.Value {
	if isNull(v) || !v.IsKnown() || !v.CanIterateElements() {
		return nil
	}
	return v.AsValueSlice()
}

// entries returns the elements of a map or object by key.
func entries(v cty.Value) map[string]cty.Value {
	if isNull(v) || !v.IsKnown() || !v.CanIterateElements() {
		return nil
	}
	return v.AsValueMap()
}

// compareKeys compares maps and objects key by key.
func compareKeys(c change, element func(change) diff) (map[string]diff, plans.Action) {
	before, after := entries(c.before), entries(c.after)
	keys := maps.Clone(before)
	if keys == nil {
		keys = map[string]cty.Value{}
	}
	maps.Copy(keys, after)
	out := make(map[string]diff, len(keys))
	action := c.presence()
	for key := range keys {
		d := element(c.part(before[key], after[key], c.attrPaths(key)))
		out[key] = d
		action = join(action, d.action)
	}
	return out, action
}

// compareByIndex compares lists whose elements keep their place.
func compareByIndex(c change, element func(change) diff) ([]diff, plans.Action) {
	before, after := elements(c.before), elements(c.after)
	action := c.presence()
	out := make([]diff, 0, max(len(before), len(after)))
	for i := range max(len(before), len(after)) {
		d := element(c.part(at(before, i), at(after, i), c.indexPaths(i)))
		out = append(out, d)
		action = join(action, d.action)
	}
	return out, action
}

func at(vals []cty.Value, i int) cty.Value {
	if i < 0 || i >= len(vals) {
		return cty.NilVal
	}
	return vals[i]
}

// compareSequence compares lists whose elements may move: what both have in
// common keeps its place, the rest is removed and added. Neighbours that pair
// accepts are shown as one element that changes, and so are all elements of lists
// that stay as long as they are, unless they only change places.
func compareSequence(c change, pair func(before, after cty.Value) bool, element func(change) diff) ([]diff, plans.Action) {
	before, after := elements(c.before), elements(c.after)
	if len(before) == len(after) && !reordered(before, after) {
		return compareByIndex(c, element)
	}
	action := c.presence()
	var out []diff
	align(before, after, same, pair, func(i, j int) {
		d := element(c.part(at(before, i), at(after, j), c.indexPaths(max(i, j))))
		out = append(out, d)
		action = join(action, d.action)
	})
	return out, action
}

// maxReordered bounds the lists that are tested for being reordered, which takes
// quadratic time.
const maxReordered = 1000

// reordered tells whether two lists hold the same elements.
func reordered(before, after []cty.Value) bool {
	if len(before) > maxReordered {
		return false
	}
	used := make([]bool, len(after))
	for _, v := range before {
		j := slices.IndexFunc(after, func(w cty.Value) bool { return same(v, w) })
		for j >= 0 && j < len(after) && (used[j] || !same(v, after[j])) {
			j++
		}
		if j < 0 || j == len(after) {
			return false
		}
		used[j] = true
	}
	return true
}

// compareSets matches equal elements; the rest is removed and added.
func compareSets(c change, element func(change) diff) ([]diff, plans.Action) {
	before, after := elements(c.before), elements(c.after)
	matched := make([]bool, len(after))
	action := c.presence()
	var out []diff
	add := func(c change) {
		d := element(c)
		out = append(out, d)
		action = join(action, d.action)
	}
	for _, v := range before {
		j := slices.IndexFunc(after, func(w cty.Value) bool { return same(v, w) && isSensitive(v) == isSensitive(w) })
		if j < 0 || matched[j] {
			add(c.part(v, cty.NilVal, nil))
			continue
		}
		matched[j] = true
		add(c.part(v, after[j], nil))
	}
	for j, v := range after {
		if !matched[j] {
			add(c.part(cty.NilVal, v, nil))
		}
	}
	return out, action
}

// same tells whether two values read the same: whether they would be equal in
// JSON, where lists and tuples, maps and objects are one. Marks do not count.
func same(a, b cty.Value) bool {
	a, b = unmark(a), unmark(b)
	if absent(a) || absent(b) {
		return absent(a) && absent(b)
	}
	if !a.IsKnown() || !b.IsKnown() {
		return !a.IsKnown() && !b.IsKnown()
	}
	if kindOf(a) != kindOf(b) {
		return false
	}
	switch kindOf(a) {
	case kindNull:
		return true
	case kindArray:
		return slices.EqualFunc(elements(a), elements(b), same)
	case kindObject:
		return maps.EqualFunc(entries(a), entries(b), same)
	default:
		return a.RawEquals(b)
	}
}
