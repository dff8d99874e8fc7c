package objchange

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// KeepUnowned returns config with the real value of everything that is not owned,
// so that a provider sees no wish to change it. Attributes that only the provider
// sets stay as in config. What is owned in part only is put together where its
// elements can be told apart, which those of sets cannot: such a value counts as
// not owned.
func KeepUnowned(schema *providers.Block, config, real cty.Value, own control.Ownership) cty.Value {
	if own.Entire() {
		return config
	}
	return keepBlock(schema, config, real, own, "")
}

// keepBlock is KeepUnowned for the value of a block at a path.
func keepBlock(schema *providers.Block, config, real cty.Value, own control.Ownership, path string) cty.Value {
	if unusable(config) || unusable(real) {
		return config
	}
	vals := config.AsValueMap()
	for name, attr := range schema.Attributes {
		vals[name] = keepAttribute(attr, vals[name], real.GetAttr(name), own, join(path, name))
	}
	for name, block := range schema.BlockTypes {
		at := join(path, name)
		wanted, is := vals[name], real.GetAttr(name)
		vals[name] = keep(wanted, is, own, at, func(v cty.Value) cty.Value { return settableBlocks(block, v) }, func() cty.Value {
			return keepNested(block.Nesting, wanted, is, own, at, func(config, real cty.Value, path string) cty.Value {
				return keepBlock(&block.Block, config, real, own, path)
			})
		})
	}
	return cty.ObjectVal(vals)
}

func keepAttribute(attr *providers.Attribute, config, real cty.Value, own control.Ownership, path string) cty.Value {
	if attr.Computed && !attr.Optional {
		return config
	}
	return keep(config, real, own, path, func(v cty.Value) cty.Value { return settableAttribute(attr, v) }, func() cty.Value {
		if attr.NestedType == nil {
			return keepElements(config, real, own, path)
		}
		return keepNested(attr.NestedType.Nesting, config, real, own, path, func(config, real cty.Value, path string) cty.Value {
			if unusable(config) || unusable(real) {
				return real
			}
			vals := config.AsValueMap()
			for name, inner := range attr.NestedType.Attributes {
				vals[name] = keepAttribute(inner, vals[name], real.GetAttr(name), own, join(path, name))
			}
			return cty.ObjectVal(vals)
		})
	})
}

// keep chooses between what is wanted and what is real by who owns it.
func keep(config, real cty.Value, own control.Ownership, path string, settable func(cty.Value) cty.Value, partly func() cty.Value) cty.Value {
	switch own.Of(path) {
	case control.OwnedWhole:
		return config
	case control.OwnedPartly:
		if flat, owned := ownsFlat(own, path, config.Type()); flat && owned {
			return config
		} else if !flat {
			return partly()
		}
	}
	return settable(real)
}

// ownsFlat tells whether a value that has nothing below it, or only elements that have
// nothing below them and cannot be told apart, is owned. flat is false for others.
func ownsFlat(own control.Ownership, path string, ty cty.Type) (flat, owned bool) {
	switch {
	case ty.IsPrimitiveType():
		return true, own.Covers(path)
	case ty.IsSetType() && ty.ElementType().IsPrimitiveType():
		return true, own.Covers(path) && own.Covers(path+"[0]")
	}
	return false, false
}

// ownsAll tells whether all of a value is owned.
func ownsAll(own control.Ownership, path string, ty cty.Type) bool {
	_, owned := ownsFlat(own, path, ty)
	return owned || own.Owns(path)
}

// keepNested puts a nested value together from its elements.
func keepNested(nesting providers.NestingMode, config, real cty.Value, own control.Ownership, path string, one func(config, real cty.Value, path string) cty.Value) cty.Value {
	if unusable(config) || unusable(real) {
		return real
	}
	switch nesting {
	case providers.NestingSingle, providers.NestingGroup:
		return one(config, real, path)
	case providers.NestingList:
		return keepList(config, real, path, one)
	case providers.NestingMap:
		return keepMap(config, real, own, path, one)
	}
	return real
}

// keepElements puts a value without a schema of its own together from its elements.
func keepElements(config, real cty.Value, own control.Ownership, path string) cty.Value {
	if !real.IsKnown() || !config.IsKnown() {
		return real
	}
	whole := func(v cty.Value) cty.Value { return v }
	element := func(config, real cty.Value, path string) cty.Value {
		return keep(config, real, own, path, whole, func() cty.Value { return keepElements(config, real, own, path) })
	}
	switch ty := config.Type(); {
	case ty.IsMapType():
		return keepMap(config, real, own, path, element)
	case config.IsNull() || real.IsNull():
		return real
	case ty.IsListType() || ty.IsTupleType():
		return keepList(config, real, path, element)
	case ty.IsObjectType():
		vals := config.AsValueMap()
		for name, v := range vals {
			vals[name] = element(v, real.GetAttr(name), join(path, name))
		}
		return cty.ObjectVal(vals)
	}
	return real
}

// keepList goes element by element where there are as many of both.
func keepList(config, real cty.Value, path string, one func(config, real cty.Value, path string) cty.Value) cty.Value {
	n := real.LengthInt()
	if n == 0 || config.LengthInt() != n {
		return real
	}
	elems, is := config.AsValueSlice(), real.AsValueSlice()
	for i := range elems {
		elems[i] = one(elems[i], is[i], fmt.Sprintf("%s[%d]", path, i))
	}
	return listOf(config.Type(), elems)
}

// listOf makes a list or tuple; elements of any type may differ in it.
func listOf(ty cty.Type, elems []cty.Value) cty.Value {
	if ty.IsTupleType() || !cty.CanListVal(elems) {
		return cty.TupleVal(elems)
	}
	return cty.ListVal(elems)
}

// mapOf makes a map or object; elements of any type may differ in it.
func mapOf(ty cty.Type, elems map[string]cty.Value) cty.Value {
	if ty.IsObjectType() || !cty.CanMapVal(elems) {
		return cty.ObjectVal(elems)
	}
	return cty.MapVal(elems)
}

// keepMap takes each key from whoever owns it: a key that is not owned is there if
// the real object has it.
func keepMap(config, real cty.Value, own control.Ownership, path string, one func(config, real cty.Value, path string) cty.Value) cty.Value {
	wanted, is := elementsOf(config), elementsOf(real)
	out := map[string]cty.Value{}
	for key := range keysOf(wanted, is) {
		at := fmt.Sprintf("%s[%q]", path, key)
		a, has := wanted[key]
		b, had := is[key]
		switch {
		case has && had:
			out[key] = one(a, b, at)
		case has && ownsAll(own, at, a.Type()):
			out[key] = a
		case had && !ownsAll(own, at, b.Type()):
			out[key] = b
		}
	}
	switch {
	case len(out) == 0 && len(is) == 0:
		return real
	case len(out) == 0 && config.Type().IsMapType():
		return cty.MapValEmpty(config.Type().ElementType())
	}
	return mapOf(config.Type(), out)
}

// elementsOf returns the elements of a map; none if it is null.
func elementsOf(v cty.Value) map[string]cty.Value {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	return v.AsValueMap()
}

func keysOf(maps ...map[string]cty.Value) map[string]bool {
	out := map[string]bool{}
	for _, m := range maps {
		for key := range m {
			out[key] = true
		}
	}
	return out
}

// settableAttribute returns a real value as a configuration could have set it.
func settableAttribute(attr *providers.Attribute, v cty.Value) cty.Value {
	switch {
	case attr.Computed && !attr.Optional:
		return cty.NullVal(attr.ImpliedType())
	case attr.NestedType == nil || unusable(v):
		return v
	}
	return eachNested(attr.NestedType.Nesting, v, func(v cty.Value) cty.Value {
		vals := v.AsValueMap()
		for name, inner := range attr.NestedType.Attributes {
			vals[name] = settableAttribute(inner, vals[name])
		}
		return cty.ObjectVal(vals)
	})
}

func settableBlocks(block *providers.NestedBlock, v cty.Value) cty.Value {
	if unusable(v) {
		return v
	}
	return eachNested(block.Nesting, v, func(v cty.Value) cty.Value {
		vals := v.AsValueMap()
		for name, attr := range block.Attributes {
			vals[name] = settableAttribute(attr, vals[name])
		}
		for name, inner := range block.BlockTypes {
			vals[name] = settableBlocks(inner, vals[name])
		}
		return cty.ObjectVal(vals)
	})
}

// eachNested applies one to each object of a nested value.
func eachNested(nesting providers.NestingMode, v cty.Value, one func(cty.Value) cty.Value) cty.Value {
	if nesting == providers.NestingSingle || nesting == providers.NestingGroup {
		return one(v)
	}
	if v.LengthInt() == 0 {
		return v
	}
	if v.Type().IsMapType() || v.Type().IsObjectType() {
		vals := v.AsValueMap()
		for key, elem := range vals {
			vals[key] = oneUnlessNull(elem, one)
		}
		return mapOf(v.Type(), vals)
	}
	elems := v.AsValueSlice()
	for i, elem := range elems {
		elems[i] = oneUnlessNull(elem, one)
	}
	if v.Type().IsSetType() {
		return cty.SetVal(elems)
	}
	return listOf(v.Type(), elems)
}

func oneUnlessNull(v cty.Value, one func(cty.Value) cty.Value) cty.Value {
	if unusable(v) {
		return v
	}
	return one(v)
}

// unusable tells whether a value cannot be looked into.
func unusable(v cty.Value) bool { return !v.IsKnown() || v.IsNull() }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// OwnedOrChanged returns two values of one object without what is neither owned nor
// different. Of such attributes both have null, of such keys of maps neither has any;
// attributes that only the provider sets stay, and so do sets that are owned in part.
func OwnedOrChanged(schema *providers.Block, before, after cty.Value, own control.Ownership) (was, is cty.Value) {
	if own.Entire() || unusable(before) || unusable(after) || !before.Type().Equals(after.Type()) {
		return before, after
	}
	vals, others := before.AsValueMap(), after.AsValueMap()
	for name := range vals {
		if attr := schema.Attributes[name]; attr == nil || !attr.Computed || attr.Optional {
			vals[name], others[name] = ownedOrChanged(vals[name], others[name], own, name)
		}
	}
	return cty.ObjectVal(vals), cty.ObjectVal(others)
}

// ownedOrChanged is OwnedOrChanged for the values at a path.
func ownedOrChanged(before, after cty.Value, own control.Ownership, path string) (was, is cty.Value) {
	owned := own.Of(path)
	switch ty := before.Type(); {
	case owned == control.OwnedWhole || !ty.Equals(after.Type()) || unusable(before) || unusable(after):
		return before, after
	case owned == control.OwnedNot && before.RawEquals(after):
		return cty.NullVal(ty), cty.NullVal(ty)
	case ty.IsMapType():
		return ownedOrChangedKeys(before, after, own, path)
	case ty.IsObjectType():
		vals, others := before.AsValueMap(), after.AsValueMap()
		for name := range vals {
			vals[name], others[name] = ownedOrChanged(vals[name], others[name], own, join(path, name))
		}
		return cty.ObjectVal(vals), cty.ObjectVal(others)
	case ty.IsListType() && before.LengthInt() == after.LengthInt() && before.LengthInt() > 0:
		vals, others := before.AsValueSlice(), after.AsValueSlice()
		for i := range vals {
			vals[i], others[i] = ownedOrChanged(vals[i], others[i], own, fmt.Sprintf("%s[%d]", path, i))
		}
		return listOf(ty, vals), listOf(ty, others)
	}
	return before, after
}

// ownedOrChangedKeys is OwnedOrChanged for the elements of a map.
func ownedOrChangedKeys(before, after cty.Value, own control.Ownership, path string) (was, is cty.Value) {
	vals, others := elementsOf(before), elementsOf(after)
	for key := range keysOf(vals, others) {
		at := fmt.Sprintf("%s[%q]", path, key)
		a, had := vals[key]
		b, has := others[key]
		switch {
		case !had || !has:
		case own.Of(at) == control.OwnedNot && a.RawEquals(b):
			delete(vals, key)
			delete(others, key)
		default:
			vals[key], others[key] = ownedOrChanged(a, b, own, at)
		}
	}
	return someOf(before.Type(), vals), someOf(after.Type(), others)
}

// someOf makes a map of the elements that are left of one.
func someOf(ty cty.Type, elems map[string]cty.Value) cty.Value {
	if len(elems) == 0 {
		return cty.MapValEmpty(ty.ElementType())
	}
	return mapOf(ty, elems)
}
