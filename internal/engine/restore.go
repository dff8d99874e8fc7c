package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

// restoreConfig returns config with the recorded value put in wherever the
// configuration leaves a settable attribute to the provider and the real object
// differs from its record. To the provider it looks as if somebody had written
// that value, which is the only way to make it bring the value back.
func restoreConfig(schema *providers.Block, config, recorded, real cty.Value) cty.Value {
	if anyNull(config, recorded, real) || recorded.RawEquals(real) {
		return config
	}
	attrs := config.AsValueMap()
	for name, attr := range schema.Attributes {
		attrs[name] = restoreAttribute(attr, attrs[name], recorded.GetAttr(name), real.GetAttr(name))
	}
	for name, nested := range schema.BlockTypes {
		attrs[name] = restoreNested(nested.Nesting, attrs[name], recorded.GetAttr(name), real.GetAttr(name), func(config, recorded, real cty.Value) cty.Value {
			return restoreConfig(&nested.Block, config, recorded, real)
		})
	}
	return cty.ObjectVal(attrs)
}

func restoreAttribute(attr *providers.Attribute, config, recorded, real cty.Value) cty.Value {
	switch {
	case recorded.RawEquals(real) || !config.IsKnown():
		return config
	case config.IsNull() && attr.Optional && attr.Computed:
		return recorded
	case attr.NestedType == nil:
		return config
	}
	return restoreNested(attr.NestedType.Nesting, config, recorded, real, func(config, recorded, real cty.Value) cty.Value {
		if anyNull(config, recorded, real) {
			return config
		}
		attrs := config.AsValueMap()
		for name, inner := range attr.NestedType.Attributes {
			attrs[name] = restoreAttribute(inner, attrs[name], recorded.GetAttr(name), real.GetAttr(name))
		}
		return cty.ObjectVal(attrs)
	})
}

// restoreNested applies one to each element that has a counterpart in the record
// and in the real object. Elements of sets have none: their value is their identity.
func restoreNested(nesting providers.NestingMode, config, recorded, real cty.Value, one func(config, recorded, real cty.Value) cty.Value) cty.Value {
	if anyNull(config, recorded, real) {
		return config
	}
	switch nesting {
	case providers.NestingSingle, providers.NestingGroup:
		return one(config, recorded, real)
	case providers.NestingList:
		return restoreList(config, recorded, real, one)
	case providers.NestingMap:
		return restoreMap(config, recorded, real, one)
	default:
		return config
	}
}

func restoreList(config, recorded, real cty.Value, one func(config, recorded, real cty.Value) cty.Value) cty.Value {
	n := config.LengthInt()
	if n == 0 || recorded.LengthInt() != n || real.LengthInt() != n {
		return config
	}
	elems := config.AsValueSlice()
	for i := range elems {
		key := cty.NumberIntVal(int64(i))
		elems[i] = one(elems[i], recorded.Index(key), real.Index(key))
	}
	if config.Type().IsTupleType() {
		return cty.TupleVal(elems)
	}
	return cty.ListVal(elems)
}

func restoreMap(config, recorded, real cty.Value, one func(config, recorded, real cty.Value) cty.Value) cty.Value {
	if !config.Type().IsMapType() || config.LengthInt() == 0 {
		return config
	}
	elems, was, is := config.AsValueMap(), recorded.AsValueMap(), real.AsValueMap()
	for key := range elems {
		if r, ok := was[key]; ok {
			if now, ok := is[key]; ok {
				elems[key] = one(elems[key], r, now)
			}
		}
	}
	return cty.MapVal(elems)
}

// anyNull tells whether any of the values is null or unknown, so that it cannot be looked into.
func anyNull(vals ...cty.Value) bool {
	for _, v := range vals {
		if v == cty.NilVal || !v.IsKnown() || v.IsNull() {
			return true
		}
	}
	return false
}
