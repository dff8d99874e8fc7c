package objchange

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// Difference is a path at which two objects differ.
type Difference struct {
	Path string
	// Computed tells that only the provider sets what is there.
	Computed bool
	// Type is that of the value.
	Type cty.Type
}

// OwnedBy tells whether all that differs is owned.
func (d Difference) OwnedBy(own control.Ownership) bool { return ownsAll(own, d.Path, d.Type) }

// Differences lists the paths at which two objects of a schema differ, sorted: as
// deep as both have the same elements, by key in maps, where none has no keys, and by
// place in lists of one length. Sets differ as a whole.
func Differences(schema *providers.Block, before, after cty.Value) []Difference {
	var out []Difference
	differingBlock(schema, before, after, "", &out)
	slices.SortFunc(out, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func differingBlock(schema *providers.Block, before, after cty.Value, path string, out *[]Difference) {
	if unusable(before) || unusable(after) {
		differing(before, after, path, false, nil, out)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Attributes)) {
		differingAttribute(schema.Attributes[name], before.GetAttr(name), after.GetAttr(name), join(path, name), out)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.BlockTypes)) {
		block := schema.BlockTypes[name]
		was, is := before.GetAttr(name), after.GetAttr(name)
		follows := settableBlocks(block, was).RawEquals(settableBlocks(block, is))
		differing(was, is, join(path, name), follows, func(before, after cty.Value, path string) {
			differingBlock(&block.Block, before, after, path, out)
		}, out)
	}
}

func differingAttribute(attr *providers.Attribute, before, after cty.Value, path string, out *[]Difference) {
	computed := attr.Computed && !attr.Optional || settableAttribute(attr, before).RawEquals(settableAttribute(attr, after))
	var inner func(before, after cty.Value, path string)
	if attr.NestedType != nil {
		inner = func(before, after cty.Value, path string) {
			if unusable(before) || unusable(after) {
				differing(before, after, path, computed, nil, out)
				return
			}
			for _, name := range slices.Sorted(maps.Keys(attr.NestedType.Attributes)) {
				differingAttribute(attr.NestedType.Attributes[name], before.GetAttr(name), after.GetAttr(name), join(path, name), out)
			}
		}
	}
	differing(before, after, path, computed, inner, out)
}

// differing adds what differs between two values. inner goes on inside objects that
// have a schema of their own.
func differing(before, after cty.Value, path string, computed bool, inner func(before, after cty.Value, path string), out *[]Difference) {
	if before.RawEquals(after) {
		return
	}
	element := inner
	if element == nil {
		element = func(before, after cty.Value, path string) { differing(before, after, path, computed, nil, out) }
	}
	ty := after.Type()
	switch {
	case ty.IsMapType() && before.Type().Equals(ty) && before.IsKnown() && after.IsKnown() && len(elementsOf(before))+len(elementsOf(after)) > 0:
		differingMap(before, after, path, computed, element, out)
	case unusable(before) || unusable(after) || !before.Type().Equals(ty):
		*out = append(*out, Difference{path, computed, ty})
	case (ty.IsListType() || ty.IsTupleType()) && before.LengthInt() == after.LengthInt():
		was, is := before.AsValueSlice(), after.AsValueSlice()
		for i := range was {
			element(was[i], is[i], fmt.Sprintf("%s[%d]", path, i))
		}
	case ty.IsObjectType() && inner != nil:
		inner(before, after, path)
	case ty.IsObjectType():
		for _, name := range slices.Sorted(maps.Keys(ty.AttributeTypes())) {
			element(before.GetAttr(name), after.GetAttr(name), join(path, name))
		}
	default:
		*out = append(*out, Difference{path, computed, ty})
	}
}

func differingMap(before, after cty.Value, path string, computed bool, element func(before, after cty.Value, path string), out *[]Difference) {
	was, is := elementsOf(before), elementsOf(after)
	for _, key := range slices.Sorted(maps.Keys(keysOf(was, is))) {
		a, hadA := was[key]
		b, hasB := is[key]
		if at := fmt.Sprintf("%s[%q]", path, key); hadA && hasB {
			element(a, b, at)
		} else {
			*out = append(*out, Difference{at, computed, after.Type().ElementType()})
		}
	}
}

// Strays lists the paths at which a planned object differs from the one before
// although they are not owned. What only the provider sets follows from the rest.
func Strays(schema *providers.Block, before, planned cty.Value, own control.Ownership) []string {
	if own.Entire() {
		return nil
	}
	var out []string
	for _, d := range Differences(schema, before, planned) {
		if !d.Computed && !d.OwnedBy(own) {
			out = append(out, d.Path)
		}
	}
	return out
}

// Take returns a value with some paths of another value of the same schema.
func Take(schema *providers.Block, into, from cty.Value, paths []string) cty.Value {
	if len(paths) == 0 || unusable(into) || unusable(from) {
		return into
	}
	taken := KeepUnowned(schema, from, into, control.OnlyOwnership(paths)).AsValueMap()
	for name, attr := range schema.Attributes {
		if attr.Computed && !attr.Optional {
			taken[name] = into.GetAttr(name)
		}
	}
	return cty.ObjectVal(taken)
}

// Overlapping tells whether one of two paths is the other or a step above it.
func Overlapping(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || strings.HasPrefix(b, a) && (b[len(a)] == '.' || b[len(a)] == '[')
}

// ValueAt returns the value at a path such as a.b["c"][0]; null if there is none.
func ValueAt(v cty.Value, path string) cty.Value {
	if path == "" {
		return v
	}
	for _, step := range control.SplitSteps(path) {
		name, keys, _ := strings.Cut(step, "[")
		if unusable(v) || !v.Type().IsObjectType() || !v.Type().HasAttribute(name) {
			return cty.NullVal(cty.DynamicPseudoType)
		}
		v = v.GetAttr(name)
		for keys != "" {
			var key cty.Value
			if key, keys = nextKey(keys); unusable(v) || !v.CanIterateElements() || v.Type().IsSetType() || v.HasIndex(key).False() {
				return cty.NullVal(cty.DynamicPseudoType)
			}
			v = v.Index(key)
		}
	}
	return v
}

// nextKey takes the first key off the rest of a step behind its bracket: a number or
// a quoted text.
func nextKey(rest string) (key cty.Value, more string) {
	text, err := strconv.QuotedPrefix(rest)
	if err != nil {
		text, more, _ = strings.Cut(rest, "]")
		n, _ := strconv.Atoi(text)
		return cty.NumberIntVal(int64(n)), strings.TrimPrefix(more, "[")
	}
	plain, _ := strconv.Unquote(text)
	return cty.StringVal(plain), strings.TrimPrefix(strings.TrimPrefix(rest[len(text):], "]"), "[")
}
