package states

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
)

// DecodeAttributes decodes the recorded attributes of an object. Attributes that the
// type has lost are left out.
func DecodeAttributes(raw json.RawMessage, ty cty.Type) (cty.Value, error) {
	val, err := decode(raw, ty)
	if err == nil {
		return val, nil
	}
	present := PresentAttributes(raw, ty)
	if len(present) == len(raw) {
		return val, err
	}
	return decode(present, ty)
}

// PresentAttributes leaves out of a recorded value the attributes that its type does
// not have: a schema may lose attributes without getting a new version, and decoders
// refuse what they do not know. JSON of another form comes back as it is, for the
// decoder to say what is wrong with it.
func PresentAttributes(raw []byte, ty cty.Type) []byte {
	if s := (scanner{src: raw}); !s.strange(ty) {
		return raw
	}
	return presentAttributes(raw, ty)
}

func presentAttributes(raw json.RawMessage, ty cty.Type) json.RawMessage {
	switch {
	case ty.IsObjectType():
		return presentMembers(raw, func(name string) (cty.Type, bool) {
			if !ty.HasAttribute(name) {
				return cty.NilType, false
			}
			return ty.AttributeType(name), true
		})
	case ty.IsMapType() && holdsAttributes(ty.ElementType()):
		return presentMembers(raw, func(string) (cty.Type, bool) { return ty.ElementType(), true })
	case (ty.IsListType() || ty.IsSetType()) && holdsAttributes(ty.ElementType()):
		return presentElements(raw, ty.ElementType())
	default:
		return raw
	}
}

// strange passes over a value, and tells whether it may hold attributes that its type does not have.
func (s *scanner) strange(ty cty.Type) bool {
	switch {
	case ty.IsObjectType() && s.enter('{'):
		types := ty.AttributeTypes()
		for s.more() {
			attr, known := types[s.key()]
			if !known || s.strange(attr) {
				return true
			}
		}
	case ty.IsMapType() && holdsAttributes(ty.ElementType()) && s.enter('{'):
		for s.more() {
			s.key()
			if s.strange(ty.ElementType()) {
				return true
			}
		}
	case (ty.IsListType() || ty.IsSetType()) && holdsAttributes(ty.ElementType()) && s.enter('['):
		for s.more() {
			if s.strange(ty.ElementType()) {
				return true
			}
		}
	default:
		s.value()
	}
	return false
}

// holdsAttributes reports whether values of the type, or of what they hold, are objects.
func holdsAttributes(ty cty.Type) bool {
	return ty.IsObjectType() || ty.IsCollectionType() && holdsAttributes(ty.ElementType())
}

func presentMembers(raw json.RawMessage, typeOf func(name string) (cty.Type, bool)) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw
	}
	changed := false
	for name, member := range members {
		ty, known := typeOf(name)
		if !known {
			delete(members, name)
			changed = true
			continue
		}
		members[name] = presentAttributes(member, ty)
		changed = changed || len(members[name]) != len(member)
	}
	return encodedIf(changed, members, raw)
}

func presentElements(raw json.RawMessage, ty cty.Type) json.RawMessage {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return raw
	}
	changed := false
	for i, element := range elements {
		elements[i] = presentAttributes(element, ty)
		changed = changed || len(elements[i]) != len(element)
	}
	return encodedIf(changed, elements, raw)
}

// encodedIf encodes what changed, and otherwise returns the text as it was recorded.
func encodedIf(changed bool, val any, raw json.RawMessage) json.RawMessage {
	if !changed {
		return raw
	}
	encoded, err := json.Marshal(val)
	if err != nil {
		return raw
	}
	return encoded
}
