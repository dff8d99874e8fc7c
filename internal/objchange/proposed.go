package objchange

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

// ProposedNew merges the prior object and the configuration into the object
// that is proposed to a provider's plan: what the configuration sets, and the
// prior value of computed attributes that it leaves out. prior must be wholly
// known; config may hold unknown values. Both must be free of marks.
//
// Nested blocks are matched by index or key, in sets by what the configuration
// says of them.
func ProposedNew(schema *providers.Block, prior, config cty.Value) cty.Value {
	if config.IsNull() && prior.IsNull() {
		return prior
	}
	if prior.IsNull() {
		prior = schema.EmptyValue()
	}
	return mergeBlock(schema, prior, config)
}

// PlannedUnknownObject returns the placeholder for an object that will be read
// or opened only later: the configuration, with every computed attribute that
// it leaves out unknown.
func PlannedUnknownObject(schema *providers.Block, config cty.Value) cty.Value {
	// Every part of an unknown prior object is unknown, and so is what it lends.
	return mergeBlock(schema, cty.UnknownVal(schema.ImpliedType()), config)
}

// fields is what blocks and nested attributes have in common.
type fields struct {
	attributes map[string]*providers.Attribute
	blocks     map[string]*providers.NestedBlock
}

func blockFields(b *providers.Block) fields {
	return fields{b.Attributes, b.BlockTypes}
}

func objectFields(o *providers.Object) fields {
	return fields{o.Attributes, nil}
}

func mergeBlock(schema *providers.Block, prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		// Only a wrong caller or an import without configuration gets here.
		return prior
	}
	return blockFields(schema).merge(prior, config)
}

// merge merges two objects, of which config is known and not null.
func (f fields) merge(prior, config cty.Value) cty.Value {
	vals := make(map[string]cty.Value, len(f.attributes)+len(f.blocks))
	for name, attr := range f.attributes {
		vals[name] = mergeAttribute(attr, attributeOf(prior, name), config.GetAttr(name))
	}
	for name, nested := range f.blocks {
		vals[name] = mergeNestedBlock(nested, attributeOf(prior, name), config.GetAttr(name))
	}
	return cty.ObjectVal(vals)
}

// mergeElement merges one nested object. Without a prior object the
// configuration stands, and is null or unknown if that is.
func (f fields) mergeElement(prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() || prior == cty.NilVal || prior.IsNull() {
		return config
	}
	return f.merge(prior, config)
}

func mergeAttribute(attr *providers.Attribute, prior, config cty.Value) cty.Value {
	switch {
	case attr.Computed && config.IsNull():
		if setByConfigBefore(attr, prior) {
			return config
		}
		return prior
	case attr.NestedType != nil:
		return mergeNested(attr.NestedType.Nesting, objectFields(attr.NestedType), prior, config)
	default:
		return config
	}
}

func mergeNestedBlock(nested *providers.NestedBlock, prior, config cty.Value) cty.Value {
	return mergeNested(nested.Nesting, blockFields(&nested.Block), prior, config)
}

// mergeNested merges what a block type or an attribute with nested attributes
// consists of. An unknown config comes from a dynamic block or an expression
// that is not known yet, and stays.
func mergeNested(nesting providers.NestingMode, f fields, prior, config cty.Value) cty.Value {
	if !config.IsKnown() || config.IsNull() {
		return config
	}
	switch nesting {
	case providers.NestingList:
		return mergeList(f, prior, config)
	case providers.NestingMap:
		return mergeMap(f, prior, config)
	case providers.NestingSet:
		return mergeSet(f, prior, config)
	default:
		return f.mergeElement(prior, config)
	}
}

func mergeList(f fields, prior, config cty.Value) cty.Value {
	if config.LengthInt() == 0 {
		return config
	}
	vals := make([]cty.Value, 0, config.LengthInt())
	for it := config.ElementIterator(); it.Next(); {
		index, configElem := it.Element()
		vals = append(vals, f.mergeElement(elementOf(prior, index), configElem))
	}
	if config.Type().IsTupleType() {
		return cty.TupleVal(vals)
	}
	if !cty.CanListVal(vals) {
		return config // a prior value of another type in a dynamic attribute
	}
	return cty.ListVal(vals)
}

func mergeMap(f fields, prior, config cty.Value) cty.Value {
	if config.LengthInt() == 0 {
		return config
	}
	vals := make(map[string]cty.Value, config.LengthInt())
	for it := config.ElementIterator(); it.Next(); {
		key, configElem := it.Element()
		vals[key.AsString()] = f.mergeElement(elementOf(prior, key), configElem)
	}
	if config.Type().IsObjectType() {
		return cty.ObjectVal(vals)
	}
	if !cty.CanMapVal(vals) {
		return config
	}
	return cty.MapVal(vals)
}

func mergeSet(f fields, prior, config cty.Value) cty.Value {
	if config.LengthInt() == 0 {
		return config
	}
	matcher := newSetMatcher(f, prior)
	vals := make([]cty.Value, 0, config.LengthInt())
	for it := config.ElementIterator(); it.Next(); {
		_, configElem := it.Element()
		vals = append(vals, f.mergeElement(matcher.take(configElem), configElem))
	}
	if !cty.CanSetVal(vals) {
		return config
	}
	return cty.SetVal(vals)
}

// setByConfigBefore tells whether the prior value of an attribute that is
// optional and computed must have come from configuration, because it has parts
// that a provider cannot compute. Leaving it out of the configuration then
// means to remove it, not to keep it.
func setByConfigBefore(attr *providers.Attribute, prior cty.Value) bool {
	return attr.Optional && attr.NestedType != nil && hasUncomputed(attr.NestedType, prior)
}

func hasUncomputed(o *providers.Object, v cty.Value) bool {
	found := false
	forEachElement(o.Nesting, v, func(elem cty.Value) {
		if found || elem.IsNull() || !elem.IsKnown() {
			return
		}
		for name, attr := range o.Attributes {
			av := elem.GetAttr(name)
			if av.IsNull() {
				continue
			}
			if !attr.Computed || attr.NestedType != nil && hasUncomputed(attr.NestedType, av) {
				found = true
				return
			}
		}
	})
	return found
}

// forEachElement visits the objects that v consists of; none if v is null or unknown.
func forEachElement(nesting providers.NestingMode, v cty.Value, visit func(cty.Value)) {
	if v.IsNull() || !v.IsKnown() {
		return
	}
	if nesting == providers.NestingSingle || nesting == providers.NestingGroup {
		visit(v)
		return
	}
	if !v.CanIterateElements() {
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		_, elem := it.Element()
		visit(elem)
	}
}

// attributeOf is GetAttr that takes null objects as objects of nulls, also
// those whose type is not known.
func attributeOf(object cty.Value, name string) cty.Value {
	switch {
	case !object.IsNull():
		return object.GetAttr(name)
	case object.Type().IsObjectType():
		return cty.NullVal(object.Type().AttributeType(name))
	default:
		return cty.NullVal(cty.DynamicPseudoType)
	}
}

// elementOf returns the element of a list, tuple, map or object of blocks, an
// unknown value if the collection is unknown, or NilVal if there is none.
func elementOf(collection, key cty.Value) cty.Value {
	switch ty := collection.Type(); {
	case collection.IsNull():
		return cty.NilVal
	case !collection.IsKnown():
		return unknownElement(ty)
	case ty.IsObjectType():
		if key.Type() == cty.String && ty.HasAttribute(key.AsString()) {
			return collection.GetAttr(key.AsString())
		}
		return cty.NilVal
	case !collection.CanIterateElements():
		return cty.NilVal
	}
	if has := collection.HasIndex(key); !has.IsKnown() || has.False() {
		return cty.NilVal
	}
	return collection.Index(key)
}

func unknownElement(ty cty.Type) cty.Value {
	if ty.IsCollectionType() {
		return cty.UnknownVal(ty.ElementType())
	}
	return cty.DynamicVal
}
