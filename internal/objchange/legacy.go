package objchange

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

// NormalizeObjectFromLegacySDK puts right how old SDKs represent blocks: no
// collection of blocks is null or unknown in the result. An unknown one becomes
// one block whose attributes are unknown. Values that need nothing are returned
// as they are; marks stay.
func NormalizeObjectFromLegacySDK(v cty.Value, schema *providers.Block) cty.Value {
	if v == cty.NilVal {
		return cty.NullVal(schema.ImpliedType())
	}
	unmarked, marks := v.UnmarkDeepWithPaths()
	out, changed := normalizeObject(unmarked, schema)
	if !changed {
		return v
	}
	return out.MarkWithPaths(marks)
}

// normalizeObject also tells whether it changed anything, so that objects and
// above all sets are rebuilt only where needed.
func normalizeObject(v cty.Value, schema *providers.Block) (cty.Value, bool) {
	if v.IsNull() || !v.IsKnown() || !v.Type().IsObjectType() {
		return v, false
	}
	var replaced map[string]cty.Value
	for name, nested := range schema.BlockTypes {
		if out, changed := normalizeBlocks(v.GetAttr(name), nested); changed {
			if replaced == nil {
				replaced = v.AsValueMap()
			}
			replaced[name] = out
		}
	}
	if replaced == nil {
		return v, false
	}
	return cty.ObjectVal(replaced), true
}

func normalizeBlocks(v cty.Value, nested *providers.NestedBlock) (cty.Value, bool) {
	if nested.Block.ImpliedType().HasDynamicTypes() {
		return v, false // nothing that an old SDK can have made
	}
	switch nested.Nesting {
	case providers.NestingSingle, providers.NestingGroup:
		return normalizeSingle(v, nested)
	case providers.NestingList, providers.NestingSet:
		return normalizeCollection(v, nested)
	default:
		return v, false // old SDKs have no maps of blocks
	}
}

func normalizeSingle(v cty.Value, nested *providers.NestedBlock) (cty.Value, bool) {
	switch {
	case !v.IsKnown():
		return unknownBlock(&nested.Block), true
	case v.IsNull() && nested.Nesting == providers.NestingGroup:
		return nested.EmptyValue(), true
	}
	return normalizeObject(v, &nested.Block)
}

func normalizeCollection(v cty.Value, nested *providers.NestedBlock) (cty.Value, bool) {
	switch {
	case !v.IsKnown():
		return unknownBlocks(nested), true
	case v.IsNull():
		return nested.EmptyValue(), true
	}
	elems := make([]cty.Value, 0, v.LengthInt())
	anyChanged := false
	for it := v.ElementIterator(); it.Next(); {
		_, elem := it.Element()
		out, changed := normalizeObject(elem, &nested.Block)
		anyChanged = anyChanged || changed
		elems = append(elems, out)
	}
	if !anyChanged {
		return v, false
	}
	if nested.Nesting == providers.NestingSet {
		return cty.SetVal(elems), true
	}
	return cty.ListVal(elems), true
}

// unknownBlock stands for a block of which nothing is known but that it exists.
func unknownBlock(schema *providers.Block) cty.Value {
	vals := make(map[string]cty.Value, len(schema.Attributes)+len(schema.BlockTypes))
	for name, attr := range schema.Attributes {
		vals[name] = cty.UnknownVal(attr.ImpliedType())
	}
	for name, nested := range schema.BlockTypes {
		vals[name] = unknownBlocks(nested)
	}
	return cty.ObjectVal(vals)
}

func unknownBlocks(nested *providers.NestedBlock) cty.Value {
	switch nested.Nesting {
	case providers.NestingList:
		return cty.ListVal([]cty.Value{unknownBlock(&nested.Block)})
	case providers.NestingSet:
		return cty.SetVal([]cty.Value{unknownBlock(&nested.Block)})
	case providers.NestingMap:
		return nested.EmptyValue()
	default:
		return unknownBlock(&nested.Block)
	}
}
