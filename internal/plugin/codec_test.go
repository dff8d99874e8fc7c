package plugin

import (
	"math/big"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
)

func TestCodecRoundTrip(t *testing.T) {
	t.Parallel()
	big1, _, err := big.ParseFloat("1234567890123456789012345678901234567890.5", 10, 512, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 70000)
	tests := map[string]struct {
		v  cty.Value
		ty cty.Type
	}{
		"null":           {cty.NullVal(cty.String), cty.String},
		"unknown":        {cty.UnknownVal(cty.String), cty.String},
		"refined":        {cty.UnknownVal(cty.String).Refine().NotNull().StringPrefix("arn:").NewValue(), cty.String},
		"refined length": {cty.UnknownVal(cty.List(cty.String)).Refine().CollectionLengthUpperBound(3).NewValue(), cty.List(cty.String)},
		"long string":    {cty.StringVal(long), cty.String},
		"big number":     {cty.NumberVal(big1), cty.Number},
		"negative":       {cty.NumberIntVal(-70000), cty.Number},
		"float":          {cty.NumberFloatVal(0.5), cty.Number},
		"dynamic":        {cty.ObjectVal(map[string]cty.Value{"a": cty.True, "b": cty.Zero}), cty.DynamicPseudoType},
		"set":            {cty.SetVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}), cty.Set(cty.String)},
		"map":            {cty.MapVal(map[string]cty.Value{"k": cty.NullVal(cty.Number)}), cty.Map(cty.Number)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dv, err := encode(test.v, test.ty)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decode(dv, test.ty)
			if err != nil {
				t.Fatal(err)
			}
			if !got.RawEquals(test.v) {
				t.Errorf("got %#v, want %#v", got, test.v)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]cty.Value{
		"missing": cty.NilVal, "marked": cty.StringVal("x").Mark("m"), "wrong type": cty.EmptyObjectVal,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := encode(v, cty.String); err == nil {
				t.Error("encoded")
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	dynamicElements := cty.List(cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType}))
	tests := map[string]struct {
		ty      cty.Type
		msgpack []byte
		json    string
	}{
		"truncated":         {cty.String, []byte{0xa5, 'a'}, ""},
		"trailing bytes":    {cty.Bool, []byte{0xc3, 0xc3}, ""},
		"reserved code":     {cty.Bool, []byte{0xc1}, ""},
		"huge array":        {cty.List(cty.String), []byte{0xdd, 0xff, 0xff, 0xff, 0xff}, ""},
		"huge map":          {cty.Map(cty.String), []byte{0xdf, 0xff, 0xff, 0xff, 0xff}, ""},
		"huge string":       {cty.String, []byte{0xdb, 0xff, 0xff, 0xff, 0xff, 'x'}, ""},
		"huge extension":    {cty.String, []byte{0xc9, 0xff, 0xff, 0xff, 0xff, 12}, ""},
		"too deep":          {cty.DynamicPseudoType, append([]byte(strings.Repeat("\x91", 10000)), 0xc0), ""},
		"unlike elements":   {dynamicElements, []byte{0x92, 0x81, 0xa1, 'a', 0x92, 0xc4, 8, '"', 's', 't', 'r', 'i', 'n', 'g', '"', 0xa1, 'x', 0x81, 0xa1, 'a', 0x92, 0xc4, 6, '"', 'b', 'o', 'o', 'l', '"', 0xc3}, ""},
		"wrong type":        {cty.String, []byte{0x90}, ""},
		"json type":         {cty.String, nil, `[]`},
		"json truncated":    {cty.String, nil, `"`},
		"contradiction":     {cty.String, []byte{0xc7, 4, 12, 0x82, 1, 0xc3, 2}, ""},
		"missing attribute": {cty.Object(map[string]cty.Type{"a": cty.String}), []byte{0x80}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := decode(&tfplugin6.DynamicValue{Msgpack: test.msgpack, Json: []byte(test.json)}, test.ty)
			if err == nil {
				t.Errorf("decoded as %#v", v)
			}
		})
	}
}

func TestDecodeAbsent(t *testing.T) {
	t.Parallel()
	for name, dv := range map[string]*tfplugin6.DynamicValue{"nil": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := decode(dv, cty.String)
			if err != nil || !v.RawEquals(cty.NullVal(cty.String)) {
				t.Errorf("got %#v, %v", v, err)
			}
		})
	}
}

// Whatever bytes a provider sends, decoding ends in a conforming value or an error.
func FuzzDecode(f *testing.F) {
	ty := cty.Object(map[string]cty.Type{
		"s": cty.String, "n": cty.Number, "d": cty.DynamicPseudoType, "l": cty.List(cty.Map(cty.Bool)),
		"t": cty.Set(cty.Object(map[string]cty.Type{"x": cty.DynamicPseudoType})),
	})
	for _, v := range []cty.Value{
		cty.NullVal(ty), cty.UnknownVal(ty),
		cty.ObjectVal(map[string]cty.Value{
			"s": cty.UnknownVal(cty.String).RefineNotNull(), "n": cty.NumberIntVal(7), "d": cty.TupleVal([]cty.Value{cty.True}),
			"l": cty.ListVal([]cty.Value{cty.MapVal(map[string]cty.Value{"k": cty.False})}),
			"t": cty.SetValEmpty(cty.Object(map[string]cty.Type{"x": cty.DynamicPseudoType})),
		}),
	} {
		dv, err := encode(v, ty)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(dv.Msgpack, []byte(nil))
	}
	f.Add([]byte(nil), []byte(`{"s":null,"n":1,"d":{"type":"string","value":"x"},"l":[],"t":[]}`))
	f.Fuzz(func(t *testing.T, packed, text []byte) {
		v, err := decode(&tfplugin6.DynamicValue{Msgpack: packed, Json: text}, ty)
		if err == nil && len(v.Type().TestConformance(ty)) > 0 {
			t.Errorf("decoded %#v, which does not conform", v)
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	ty := cty.Object(map[string]cty.Type{"id": cty.String, "tags": cty.Map(cty.String), "rules": cty.List(cty.Object(map[string]cty.Type{"port": cty.Number, "open": cty.Bool}))})
	rule := cty.ObjectVal(map[string]cty.Value{"port": cty.NumberIntVal(443), "open": cty.True})
	val := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("i-0123456789"), "tags": cty.MapVal(map[string]cty.Value{"name": cty.StringVal("a")}), "rules": cty.ListVal([]cty.Value{rule, rule})})
	b.ReportAllocs()
	for b.Loop() {
		sent, err := encode(val, ty)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := decode(sent, ty); err != nil {
			b.Fatal(err)
		}
	}
}
