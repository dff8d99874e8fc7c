package providers

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// CoerceValue converts v to a value that conforms to the block's implied type:
// absent attributes that need not be set become null, absent blocks empty, and
// values are converted. The error is a cty.PathError. On error the result is
// an unknown value of the implied type.
func (b *Block) CoerceValue(v cty.Value) (cty.Value, error) {
	out, err := b.coerce(v, nil)
	if err != nil {
		return cty.UnknownVal(b.ImpliedType()), err
	}
	return out, nil
}

func (b *Block) coerce(v cty.Value, path cty.Path) (cty.Value, error) {
	v, marks := v.Unmark()
	switch {
	case v.IsNull():
		return cty.NullVal(b.ImpliedType()).WithMarks(marks), nil
	case !v.IsKnown():
		return cty.UnknownVal(b.ImpliedType()).WithMarks(marks), nil
	case !v.Type().IsObjectType():
		return cty.NilVal, path.NewErrorf("an object is required")
	}
	if name := b.unexpected(v.Type()); name != "" {
		return cty.NilVal, path.NewErrorf("unexpected attribute %q", name)
	}
	vals := make(map[string]cty.Value, len(b.Attributes)+len(b.BlockTypes))
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		val, err := b.Attributes[name].coerceIn(v, name, path)
		if err != nil {
			return cty.NilVal, err
		}
		vals[name] = val
	}
	for _, name := range slices.Sorted(maps.Keys(b.BlockTypes)) {
		nested := b.BlockTypes[name]
		if !v.Type().HasAttribute(name) {
			vals[name] = nested.EmptyValue()
			continue
		}
		val, err := nested.coerceNested(v.GetAttr(name), extend(path, cty.GetAttrStep{Name: name}))
		if err != nil {
			return cty.NilVal, err
		}
		vals[name] = val
	}
	return cty.ObjectVal(vals).WithMarks(marks), nil
}

// unexpected returns the first attribute of ty that the block does not have, or "".
func (b *Block) unexpected(ty cty.Type) string {
	for _, name := range slices.Sorted(maps.Keys(ty.AttributeTypes())) {
		if b.Attributes[name] == nil && b.BlockTypes[name] == nil {
			return name
		}
	}
	return ""
}

func (a *Attribute) coerceIn(object cty.Value, name string, path cty.Path) (cty.Value, error) {
	if !object.Type().HasAttribute(name) {
		if a.Required {
			return cty.NilVal, path.NewErrorf("attribute %q is required", name)
		}
		return cty.NullVal(a.ImpliedType()), nil
	}
	val, err := convert.Convert(object.GetAttr(name), a.constraint())
	if err != nil {
		return cty.NilVal, extend(path, cty.GetAttrStep{Name: name}).NewError(err)
	}
	return val, nil
}

func (n *NestedBlock) coerceNested(v cty.Value, path cty.Path) (cty.Value, error) {
	if n.Nesting == NestingSingle || n.Nesting == NestingGroup {
		return n.coerce(v, path)
	}
	v, marks := v.Unmark()
	switch {
	case v.IsNull():
		return cty.NullVal(n.impliedType()).WithMarks(marks), nil
	case !v.IsKnown():
		return cty.UnknownVal(n.impliedType()).WithMarks(marks), nil
	case !v.CanIterateElements():
		return cty.NilVal, path.NewErrorf("must be a collection of blocks")
	}
	keyed := make(map[string]cty.Value)
	var elems []cty.Value
	for it := v.ElementIterator(); it.Next(); {
		key, ev := it.Element()
		elem, err := n.coerce(ev, extend(path, cty.IndexStep{Key: key}))
		if err != nil {
			return cty.NilVal, err
		}
		elems = append(elems, elem)
		if n.Nesting == NestingMap {
			if key.Type() != cty.String {
				return cty.NilVal, path.NewErrorf("must be a map")
			}
			keyed[key.AsString()] = elem
		}
	}
	return n.collect(elems, keyed).WithMarks(marks), nil
}

// collect forms the value of a collection of blocks from elements that all
// conform to the block's implied type.
func (n *NestedBlock) collect(elems []cty.Value, keyed map[string]cty.Value) cty.Value {
	if len(elems) == 0 {
		return n.EmptyValue()
	}
	dynamic := n.Block.ImpliedType().HasDynamicTypes()
	switch {
	case n.Nesting == NestingSet:
		return cty.SetVal(elems)
	case n.Nesting == NestingMap && dynamic:
		return cty.ObjectVal(keyed)
	case n.Nesting == NestingMap:
		return cty.MapVal(keyed)
	case dynamic:
		return cty.TupleVal(elems)
	default:
		return cty.ListVal(elems)
	}
}
