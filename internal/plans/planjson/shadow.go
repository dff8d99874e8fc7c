package planjson

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/lang"
)

// marshal encodes a value without type information, unknown parts left out; nil
// for a value that is wholly unknown or not there.
func marshal(v cty.Value) (json.RawMessage, error) {
	if v == cty.NilVal {
		return nil, nil
	}
	known := withoutUnknown(v)
	if known == cty.NilVal {
		return nil, nil
	}
	return ctyjson.Marshal(known, known.Type())
}

// withoutUnknown leaves unknown attributes and map elements out and puts nulls
// for unknown elements of lists. It returns an absent value for an unknown one.
func withoutUnknown(v cty.Value) cty.Value {
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case v.IsNull():
		return v
	case !v.IsKnown():
		return cty.NilVal
	case ty.IsListType() || ty.IsSetType() || ty.IsTupleType():
		vals := make([]cty.Value, 0, v.LengthInt())
		for it := v.ElementIterator(); it.Next(); {
			_, elem := it.Element()
			known := withoutUnknown(elem)
			if known == cty.NilVal {
				known = cty.NullVal(cty.DynamicPseudoType)
			}
			vals = append(vals, known)
		}
		return cty.TupleVal(vals)
	case ty.IsMapType() || ty.IsObjectType():
		vals := make(map[string]cty.Value, v.LengthInt())
		for it := v.ElementIterator(); it.Next(); {
			key, elem := it.Element()
			if known := withoutUnknown(elem); known != cty.NilVal {
				vals[key.AsString()] = known
			}
		}
		return cty.ObjectVal(vals)
	default:
		return v
	}
}

// A shadow is a value of the same shape as another one in which every part is
// replaced by whether it has a property. Attributes without it are left out.

// unknownShadow tells which parts of a value are unknown.
func unknownShadow(v cty.Value) any {
	v, _ = v.Unmark()
	if !v.IsKnown() {
		return true
	}
	return shadow(v, unknownShadow)
}

// sensitiveShadow tells which parts of a value are sensitive.
func sensitiveShadow(v cty.Value) any {
	if v.HasMark(lang.Sensitive) {
		return true
	}
	v, _ = v.Unmark()
	if !v.IsKnown() {
		return emptyShadow(v.Type())
	}
	return shadow(v, sensitiveShadow)
}

// emptyShadow is the shadow of a value of which only the type is known.
func emptyShadow(ty cty.Type) any {
	switch {
	case ty.IsListType() || ty.IsSetType() || ty.IsTupleType():
		return []any{}
	case ty.IsMapType() || ty.IsObjectType():
		return map[string]any{}
	default:
		return false
	}
}

// shadow applies the property to the parts of a known value.
func shadow(v cty.Value, property func(cty.Value) any) any {
	ty := v.Type()
	switch {
	case v.IsNull():
		return false
	case ty.IsListType() || ty.IsSetType() || ty.IsTupleType():
		out := make([]any, 0, v.LengthInt())
		for it := v.ElementIterator(); it.Next(); {
			_, elem := it.Element()
			out = append(out, property(elem))
		}
		return out
	case ty.IsMapType() || ty.IsObjectType():
		out := map[string]any{}
		for it := v.ElementIterator(); it.Next(); {
			key, elem := it.Element()
			if s := property(elem); s != false {
				out[key.AsString()] = s
			}
		}
		return out
	default:
		return false
	}
}
