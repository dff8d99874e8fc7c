package states

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// decode is [ctyjson.Unmarshal] for values as they are usually recorded. What is written in any other
// way, rightly or wrongly, is left to that.
func decode(raw []byte, ty cty.Type) (cty.Value, error) {
	if json.Valid(raw) {
		s := scanner{src: raw}
		if val, ok := s.decode(ty); ok {
			return val, nil
		}
	}
	return ctyjson.Unmarshal(raw, ty)
}

// decode takes the value that comes next, and tells whether it is one of the usual.
func (s *scanner) decode(ty cty.Type) (cty.Value, bool) {
	if s.peek() == 'n' {
		s.value()
		return cty.NullVal(ty), true
	}
	switch {
	case ty == cty.DynamicPseudoType:
		return s.decodeDynamic()
	case ty.IsPrimitiveType():
		return s.decodePrimitive(ty)
	case ty.IsObjectType():
		return s.decodeObject(ty)
	case ty.IsTupleType():
		return s.decodeTuple(ty.TupleElementTypes())
	case ty.IsMapType() && !ty.HasDynamicTypes():
		return s.decodeMap(ty.ElementType())
	case (ty.IsListType() || ty.IsSetType()) && !ty.HasDynamicTypes():
		return s.decodeElements(ty)
	default:
		return cty.NilVal, false
	}
}

func (s *scanner) decodePrimitive(ty cty.Type) (cty.Value, bool) {
	first := s.peek()
	switch {
	case ty == cty.String && first == '"':
		return cty.StringVal(s.text()), true
	case ty == cty.Bool && (first == 't' || first == 'f'):
		s.value()
		return cty.BoolVal(first == 't'), true
	case ty == cty.Number && (first == '-' || first >= '0' && first <= '9'):
		val, err := cty.ParseNumberVal(string(s.value()))
		return val, err == nil
	default:
		return cty.NilVal, false
	}
}

func (s *scanner) decodeObject(ty cty.Type) (cty.Value, bool) {
	types := ty.AttributeTypes()
	if !s.enter('{') {
		return cty.NilVal, false
	}
	vals := make(map[string]cty.Value, len(types))
	for s.more() {
		name := s.key()
		attr, known := types[name]
		if !known {
			return cty.NilVal, false
		}
		val, ok := s.decode(attr)
		if !ok {
			return cty.NilVal, false
		}
		vals[name] = val
	}
	for name, attr := range types {
		if _, set := vals[name]; !set {
			vals[name] = cty.NullVal(attr)
		}
	}
	return cty.ObjectVal(vals), true
}

func (s *scanner) decodeMap(ty cty.Type) (cty.Value, bool) {
	if !s.enter('{') {
		return cty.NilVal, false
	}
	vals := map[string]cty.Value{}
	for s.more() {
		name := s.key()
		val, ok := s.decode(ty)
		if !ok {
			return cty.NilVal, false
		}
		vals[name] = val
	}
	if len(vals) == 0 {
		return cty.MapValEmpty(ty), true
	}
	return cty.MapVal(vals), true
}

// decodeElements takes a list or a set.
func (s *scanner) decodeElements(ty cty.Type) (cty.Value, bool) {
	if !s.enter('[') {
		return cty.NilVal, false
	}
	var vals []cty.Value
	for s.more() {
		val, ok := s.decode(ty.ElementType())
		if !ok {
			return cty.NilVal, false
		}
		vals = append(vals, val)
	}
	switch {
	case ty.IsSetType() && len(vals) == 0:
		return cty.SetValEmpty(ty.ElementType()), true
	case ty.IsSetType():
		return cty.SetVal(vals), true
	case len(vals) == 0:
		return cty.ListValEmpty(ty.ElementType()), true
	default:
		return cty.ListVal(vals), true
	}
}

func (s *scanner) decodeTuple(types []cty.Type) (cty.Value, bool) {
	if !s.enter('[') {
		return cty.NilVal, false
	}
	vals := make([]cty.Value, 0, len(types))
	for s.more() {
		if len(vals) == len(types) {
			return cty.NilVal, false
		}
		val, ok := s.decode(types[len(vals)])
		if !ok {
			return cty.NilVal, false
		}
		vals = append(vals, val)
	}
	return cty.TupleVal(vals), len(vals) == len(types)
}

// decodeDynamic takes a value that is recorded with its type.
func (s *scanner) decodeDynamic() (cty.Value, bool) {
	if !s.enter('{') {
		return cty.NilVal, false
	}
	var ty cty.Type
	var raw []byte
	for s.more() {
		switch s.key() {
		case "type":
			var ok bool
			if ty, ok = decodeType(s.value()); !ok {
				return cty.NilVal, false
			}
		case "value":
			raw = s.value()
		default:
			return cty.NilVal, false
		}
	}
	if ty == cty.NilType || raw == nil {
		return cty.NilVal, false
	}
	inner := scanner{src: raw}
	return inner.decode(ty)
}

func decodeType(raw []byte) (cty.Type, bool) {
	switch string(raw) {
	case `"string"`:
		return cty.String, true
	case `"number"`:
		return cty.Number, true
	case `"bool"`:
		return cty.Bool, true
	}
	var ty cty.Type
	err := json.Unmarshal(raw, &ty)
	return ty, err == nil
}
