package addrs

import (
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// InstanceKey tells instances of one resource or module call apart: no key, a
// number (count) or text (for_each). The zero value is [NoKey]. It is comparable.
type InstanceKey struct {
	kind keyKind
	num  int
	text string
}

type keyKind uint8

const (
	keyNone keyKind = iota
	keyInt
	keyString
)

// NoKey is the key of an object that has neither count nor for_each.
var NoKey InstanceKey

// IntKey returns the key of an instance made by count.
func IntKey(n int) InstanceKey { return InstanceKey{kind: keyInt, num: n} }

// StringKey returns the key of an instance made by for_each.
func StringKey(s string) InstanceKey { return InstanceKey{kind: keyString, text: s} }

// Int returns the number of a count key.
func (k InstanceKey) Int() (int, bool) { return k.num, k.kind == keyInt }

// Text returns the text of a for_each key.
func (k InstanceKey) Text() (string, bool) { return k.text, k.kind == keyString }

// String returns the key as it stands in an address: "", "[0]" or `["a"]`.
func (k InstanceKey) String() string {
	switch k.kind {
	case keyInt:
		return "[" + strconv.Itoa(k.num) + "]"
	case keyString:
		return "[" + quote(k.text) + "]"
	default:
		return ""
	}
}

// Value returns the key as a cty number or string, or a null of unknown type for NoKey.
func (k InstanceKey) Value() cty.Value {
	switch k.kind {
	case keyInt:
		return cty.NumberIntVal(int64(k.num))
	case keyString:
		return cty.StringVal(k.text)
	default:
		return cty.NullVal(cty.DynamicPseudoType)
	}
}

// Compare orders keys: none, numbers by value, texts by bytes.
func (k InstanceKey) Compare(other InstanceKey) int {
	if k.kind != other.kind {
		return int(k.kind) - int(other.kind)
	}
	if k.kind == keyInt {
		return k.num - other.num
	}
	return strings.Compare(k.text, other.text)
}

// ParseInstanceKey reads a key value as it appears in an index expression.
func ParseInstanceKey(v cty.Value) (InstanceKey, bool) {
	if v.IsNull() || !v.IsKnown() || v.IsMarked() {
		return NoKey, false
	}
	switch v.Type() {
	case cty.String:
		return StringKey(v.AsString()), true
	case cty.Number:
		f := v.AsBigFloat()
		n, _ := f.Int64()
		if !f.IsInt() || n < 0 || int64(int(n)) != n {
			return NoKey, false
		}
		return IntKey(int(n)), true
	default:
		return NoKey, false
	}
}

// quote writes text in HCL's quoted form, with template sequences escaped.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch r {
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '"':
			b.WriteString(`\"`)
		case '\\':
			b.WriteString(`\\`)
		case '$', '%':
			b.WriteRune(r)
			if strings.HasPrefix(s[i+1:], "{") {
				b.WriteRune(r)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
