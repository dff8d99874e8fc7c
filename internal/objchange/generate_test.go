package objchange_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

// generator makes random schemas and values that conform to them.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 1))} }

var leafTypes = []cty.Type{
	cty.String, cty.Number, cty.Bool, cty.List(cty.String), cty.Map(cty.Number), cty.Set(cty.String),
	cty.Object(map[string]cty.Type{"x": cty.String, "y": cty.List(cty.Bool)}),
}

func (g generator) attribute(depth int) *providers.Attribute {
	attr := &providers.Attribute{Type: leafTypes[g.IntN(len(leafTypes))]}
	switch g.IntN(4) {
	case 0:
		attr.Required = true
	case 1:
		attr.Optional = true
	case 2:
		attr.Optional, attr.Computed = true, true
	case 3:
		attr.Computed = true
	}
	if depth > 0 && g.IntN(3) == 0 {
		modes := []providers.NestingMode{providers.NestingSingle, providers.NestingList, providers.NestingSet, providers.NestingMap}
		attr.Type = cty.NilType
		attr.NestedType = &providers.Object{Nesting: modes[g.IntN(len(modes))], Attributes: g.attributes(depth - 1)}
	}
	return attr
}

func (g generator) attributes(depth int) map[string]*providers.Attribute {
	attrs := map[string]*providers.Attribute{"key": {Type: cty.String, Required: true}}
	for i := range g.IntN(4) {
		attrs[fmt.Sprint("a", i)] = g.attribute(depth)
	}
	return attrs
}

func (g generator) block(depth int) *providers.Block {
	b := &providers.Block{Attributes: g.attributes(depth)}
	if depth == 0 {
		return b
	}
	b.BlockTypes = make(map[string]*providers.NestedBlock)
	for i := range g.IntN(3) {
		child := g.block(depth - 1)
		nesting := providers.NestingSingle + providers.NestingMode(g.IntN(5))
		b.BlockTypes[fmt.Sprint("b", i)] = &providers.NestedBlock{
			Nesting: nesting,
			Block:   providers.Block{Attributes: child.Attributes, BlockTypes: child.BlockTypes},
		}
	}
	return b
}

// how says what a generated value may hold.
type how struct {
	config  bool // leave out what cannot be configured
	unknown bool
	full    bool // nothing that can be set is null
}

func (g generator) object(b *providers.Block, h how) cty.Value {
	vals := g.attributeValues(b.Attributes, h)
	for name, nested := range b.BlockTypes {
		vals[name] = g.collection(nested.Nesting, nested.Block.ImpliedType(), true, h, func() cty.Value { return g.object(&nested.Block, h) })
	}
	return cty.ObjectVal(vals)
}

func (g generator) attributeValues(attrs map[string]*providers.Attribute, h how) map[string]cty.Value {
	vals := make(map[string]cty.Value)
	for name, attr := range attrs {
		vals[name] = g.attributeValue(attr, h)
	}
	return vals
}

func (g generator) attributeValue(attr *providers.Attribute, h how) cty.Value {
	ty := attr.ImpliedType()
	switch {
	case h.config && attr.Computed && !attr.Optional,
		!attr.Required && !h.full && g.IntN(3) == 0:
		return cty.NullVal(ty)
	case h.unknown && g.IntN(6) == 0:
		return cty.UnknownVal(ty)
	case attr.NestedType != nil:
		return g.collection(attr.NestedType.Nesting, attr.NestedType.ElementType(), false, h, func() cty.Value {
			return cty.ObjectVal(g.attributeValues(attr.NestedType.Attributes, h))
		})
	default:
		return g.value(ty)
	}
}

func (g generator) collection(nesting providers.NestingMode, ety cty.Type, block bool, h how, element func() cty.Value) cty.Value {
	switch nesting {
	case providers.NestingSingle:
		if block && !h.full && g.IntN(3) == 0 {
			return cty.NullVal(ety)
		}
		return element()
	case providers.NestingGroup:
		return element()
	}
	var elems []cty.Value
	keyed := make(map[string]cty.Value)
	for i := range g.IntN(4) {
		elems = append(elems, element())
		keyed[fmt.Sprint("k", i)] = elems[i]
	}
	switch {
	case nesting == providers.NestingMap && len(elems) == 0:
		return cty.MapValEmpty(ety)
	case nesting == providers.NestingMap:
		return cty.MapVal(keyed)
	case nesting == providers.NestingSet && len(elems) == 0:
		return cty.SetValEmpty(ety)
	case nesting == providers.NestingSet:
		return cty.SetVal(elems)
	case len(elems) == 0:
		return cty.ListValEmpty(ety)
	default:
		return cty.ListVal(elems)
	}
}

// value makes a known value of a type.
func (g generator) value(ty cty.Type) cty.Value {
	switch {
	case ty == cty.String:
		return cty.StringVal(string(rune('a' + g.IntN(4))))
	case ty == cty.Number:
		return cty.NumberIntVal(g.Int64N(4))
	case ty == cty.Bool:
		return cty.BoolVal(g.IntN(2) == 0)
	case ty.IsObjectType():
		vals := make(map[string]cty.Value)
		for name, aty := range ty.AttributeTypes() {
			vals[name] = g.value(aty)
		}
		return cty.ObjectVal(vals)
	}
	ety := ty.ElementType()
	var nesting providers.NestingMode
	switch {
	case ty.IsListType():
		nesting = providers.NestingList
	case ty.IsSetType():
		nesting = providers.NestingSet
	default:
		nesting = providers.NestingMap
	}
	return g.collection(nesting, ety, false, how{}, func() cty.Value { return g.value(ety) })
}

// complete replaces unknown values by known ones, as an apply does.
func (g generator) complete(v cty.Value) cty.Value {
	out, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsKnown() {
			return g.value(v.Type()), nil
		}
		return v, nil
	})
	if err != nil {
		panic(err)
	}
	return out
}
