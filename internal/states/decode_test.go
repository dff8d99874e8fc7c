package states

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// decodedType has an attribute of every kind of type.
var decodedType = cty.Object(map[string]cty.Type{
	"s": cty.String, "n": cty.Number, "b": cty.Bool, "any": cty.DynamicPseudoType,
	"l": cty.List(cty.String), "set": cty.Set(cty.Number), "m": cty.Map(cty.Bool),
	"t": cty.Tuple([]cty.Type{cty.String, cty.Number}), "lo": cty.List(cty.Object(map[string]cty.Type{"a": cty.String})),
	"la": cty.List(cty.DynamicPseudoType), "ma": cty.Map(cty.DynamicPseudoType),
})

// FuzzDecode decodes objects as go-cty does, whatever they are.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		``, `null`, `{}`, `[]`, ` { "s" : "a\u00e9\\\"b" , "n" : -1.5e3,"b":true } `, `{"s":1,"n":"2","b":"true"}`, `{"s":true}`, `{"x":1}`, `{"s":"é e\u0301 \ud800"}`,
		`{"l":["a",null,"b"],"set":[1,2,1],"m":{"a":true,"b":null},"t":["a",1]}`, `{"l":[],"set":[],"m":{},"t":["a"]}`, `{"t":["a",1,2]}`, `{"l":{}}`, `{"m":[]}`,
		`{"any":{"value":"a","type":"string"}}`, `{"any":{"type":["object",{"a":["list","number"]}],"value":{"a":[1]}}}`, `{"any":{"type":["tuple",["string","bool"]],"value":["a",false]}}`,
		`{"any":{"type":"dynamic","value":{"type":"string","value":"x"}}}`, `{"any":{"type":"what","value":1}}`, `{"any":{"value":1}}`, `{"any":{"type":"string","value":null,"x":1}}`, `{"any":null}`,
		`{"lo":[{"a":"1"},{},null],"la":[{"type":"string","value":"1"},{"type":"number","value":1}]}`, `{"ma":{"a":{"type":"bool","value":false}}}`,
		`{"s":"a","s":"b"} `, `{"n":123456789012345678901234567890.123456789}`, `{"n":1e400}`, `{"s":"a"}}`, `{"s":"a"} 1`,
		"{\"s\":\"\xff\"}", `{"any":{"type":["list","dynamic"],"value":[]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, wantErr := safely(func() (cty.Value, error) { return ctyjson.Unmarshal(data, decodedType) })
		got, err := safely(func() (cty.Value, error) { return decode(data, decodedType) })
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: got %v, want %v", data, err, wantErr)
		}
		if err == nil && !got.RawEquals(want) {
			t.Errorf("%q: got %#v, want %#v", data, got, want)
		}
		if got, want := PresentAttributes(data, decodedType), presentAttributes(data, decodedType); json.Valid(data) && !bytes.Equal(got, want) {
			t.Errorf("%q: %s is present, want %s", data, got, want)
		}
	})
}

// safely makes an error of a panic: go-cty has some, of lists of unlike elements.
func safely(decode func() (cty.Value, error)) (val cty.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			val, err = cty.NilVal, cty.Path{}.NewErrorf("panic: %v", r)
		}
	}()
	return decode()
}

func BenchmarkDecode(b *testing.B) {
	ty := cty.Object(map[string]cty.Type{"id": cty.String, "input": cty.DynamicPseudoType, "output": cty.DynamicPseudoType, "triggers_replace": cty.DynamicPseudoType})
	raw := []byte(`{"id":"0b7fa1c6-8f0c-4d2c-a8c4-5d8a4c1b2a3e","input":{"value":"start","type":"string"},"output":{"value":"start","type":"string"},"triggers_replace":null}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeAttributes(raw, ty); err != nil {
			b.Fatal(err)
		}
	}
}
