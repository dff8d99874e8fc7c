package plugin

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
)

// maxNesting bounds how deep a value's encoding may nest.
const maxNesting = 500

// encode returns the form in which values are sent.
func encode(v cty.Value, ty cty.Type) (*tfplugin6.DynamicValue, error) {
	if v == cty.NilVal {
		return nil, errors.New("a value is missing")
	}
	if v.ContainsMarked() {
		return nil, errors.New("a value carries marks, which cannot be sent")
	}
	raw, err := msgpack.Marshal(v, ty)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a value: %w", err)
	}
	return &tfplugin6.DynamicValue{Msgpack: raw}, nil
}

// decode reads a value that a provider sent, in either form; an absent value is
// null. Whatever the bytes are, the outcome is an error or a value that
// conforms to ty.
func decode(dv *tfplugin6.DynamicValue, ty cty.Type) (v cty.Value, err error) {
	// go-cty panics on some values that fit no type, such as lists of unlike
	// elements. They are the provider's mistakes, not ours.
	defer func() {
		if r := recover(); r != nil {
			v, err = cty.NilVal, fmt.Errorf("cannot decode a value: %v", r)
		}
	}()
	switch {
	case dv == nil || len(dv.Msgpack) == 0 && len(dv.Json) == 0:
		return cty.NullVal(ty), nil
	case len(dv.Msgpack) > 0:
		if err := checkMsgpack(dv.Msgpack); err != nil {
			return cty.NilVal, fmt.Errorf("cannot decode a value: %w", err)
		}
		v, err = msgpack.Unmarshal(dv.Msgpack, ty)
	default:
		v, err = ctyjson.Unmarshal(dv.Json, ty)
	}
	if err != nil {
		return cty.NilVal, fmt.Errorf("cannot decode a value: %w", err)
	}
	if problems := v.Type().TestConformance(ty); len(problems) > 0 {
		return cty.NilVal, fmt.Errorf("a value does not conform to the schema: %w", problems[0])
	}
	return v, nil
}

var errMsgpack = errors.New("the msgpack encoding is damaged")

// checkMsgpack walks over one encoded value before a decoder sees it: decoders
// reserve room for as many elements as the encoding announces, so an announced
// length must not exceed the bytes that are there.
func checkMsgpack(b []byte) error {
	pending := []int{1} // values still to come, by depth
	for len(pending) > 0 {
		top := len(pending) - 1
		if pending[top] == 0 {
			pending = pending[:top]
			continue
		}
		pending[top]--
		skip, children, err := msgpackItem(b)
		if err != nil {
			return err
		}
		if skip > len(b) || children > len(b)-skip {
			return errMsgpack
		}
		b = b[skip:]
		if children > 0 {
			if len(pending) >= maxNesting {
				return errors.New("the value is nested too deeply")
			}
			pending = append(pending, children)
		}
	}
	if len(b) > 0 {
		return errMsgpack
	}
	return nil
}

// msgpackItem returns how many bytes the next item takes without its children,
// and how many children follow.
func msgpackItem(b []byte) (skip, children int, err error) {
	if len(b) == 0 {
		return 0, 0, errMsgpack
	}
	switch code := b[0]; {
	case code <= 0x7f || code >= 0xe0: // small integers
		return 1, 0, nil
	case code <= 0x8f: // small map
		return 1, 2 * int(code&0x0f), nil
	case code <= 0x9f: // small array
		return 1, int(code & 0x0f), nil
	case code <= 0xbf: // short string
		return 1 + int(code&0x1f), 0, nil
	default:
		return msgpackLongItem(b)
	}
}

// msgpackLong gives, for codes from 0xc0 to 0xdf, the width of the length that
// follows, the fixed bytes beside it, and what the length counts.
var msgpackLong = [32]struct {
	width, fixed int
	counts       byte // 'b' bytes, 'a' elements, 'm' pairs, 'x' not used by the format
}{
	{}, {0, 0, 'x'}, {}, {}, // nil, never used, false, true
	{1, 0, 'b'}, {2, 0, 'b'}, {4, 0, 'b'}, // binary
	{1, 1, 'b'}, {2, 1, 'b'}, {4, 1, 'b'}, // extension with its type
	{0, 4, 0}, {0, 8, 0}, // floats
	{0, 1, 0}, {0, 2, 0}, {0, 4, 0}, {0, 8, 0}, // unsigned integers
	{0, 1, 0}, {0, 2, 0}, {0, 4, 0}, {0, 8, 0}, // signed integers
	{0, 2, 0}, {0, 3, 0}, {0, 5, 0}, {0, 9, 0}, {0, 17, 0}, // extensions of fixed size
	{1, 0, 'b'}, {2, 0, 'b'}, {4, 0, 'b'}, // strings
	{2, 0, 'a'}, {4, 0, 'a'}, {2, 0, 'm'}, {4, 0, 'm'},
}

func msgpackLongItem(b []byte) (skip, children int, err error) {
	kind := msgpackLong[b[0]-0xc0]
	if kind.counts == 'x' || len(b) < 1+kind.width {
		return 0, 0, errMsgpack
	}
	skip = 1 + kind.width + kind.fixed
	length := 0
	switch kind.width {
	case 1:
		length = int(b[1])
	case 2:
		length = int(binary.BigEndian.Uint16(b[1:]))
	case 4:
		length = int(binary.BigEndian.Uint32(b[1:]))
	}
	switch kind.counts {
	case 'b':
		skip += length
	case 'a':
		children = length
	case 'm':
		children = 2 * length
	}
	return skip, children, nil
}
