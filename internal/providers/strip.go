package providers

import (
	"bytes"
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
)

// StripRemovedAttributes removes from a stored object what the type does not
// have: attributes that a newer provider of the same schema version has
// dropped. Anything that is not an object of JSON is returned as it is, for the
// decoder to complain about.
func StripRemovedAttributes(raw []byte, ty cty.Type) []byte {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // numbers keep all their digits
	var v any
	if decoder.Decode(&v) != nil || !stripRemoved(v, ty) {
		return raw
	}
	stripped, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return stripped
}

// stripRemoved tells whether it removed anything.
func stripRemoved(v any, ty cty.Type) bool {
	removed := false
	switch v := v.(type) {
	case map[string]any:
		for name, elem := range v {
			ety, ok := elementType(ty, name)
			if !ok {
				delete(v, name)
				removed = true
				continue
			}
			removed = stripRemoved(elem, ety) || removed
		}
	case []any:
		if !ty.IsListType() && !ty.IsSetType() {
			return false
		}
		for _, elem := range v {
			removed = stripRemoved(elem, ty.ElementType()) || removed
		}
	}
	return removed
}

// elementType returns the type of what a JSON object has under a name. ok is
// false if the type is that of an object without such an attribute.
func elementType(ty cty.Type, name string) (ety cty.Type, ok bool) {
	switch {
	case ty.IsObjectType():
		if !ty.HasAttribute(name) {
			return cty.NilType, false
		}
		return ty.AttributeType(name), true
	case ty.IsMapType():
		return ty.ElementType(), true
	default: // a dynamic value or a wrong one
		return cty.DynamicPseudoType, true
	}
}
