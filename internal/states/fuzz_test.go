package states

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzRead decodes whatever calls itself a state: it is refused, or what is read is
// written and read again as the same.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `{"version":4,"serial":1,"lineage":"l"}`, `{"version":3}`, `{"version":5}`,
		`{"version":4,"terraform_version":"1.11.4","serial":3,"lineage":"l","outputs":{"o":{"value":{"a":[1,null]},"type":["object",{"a":["tuple",["number","string"]]}],"sensitive":true}},
"resources":[{"module":"module.m[\"k\"]","mode":"managed","type":"a_b","name":"c","each":"list","provider":"provider[\"registry.terraform.io/x/y\"].z",
"instances":[{"index_key":0,"status":"tainted","schema_version":1,"attributes":{"id":"1"},"sensitive_attributes":[[{"type":"get_attr","value":"id"},{"type":"index","value":{"value":1,"type":"number"}}]],"private":"cA==","dependencies":["data.a_b.d","ephemeral.e.f"],"create_before_destroy":true},
{"index_key":1,"deposed":"00000001","schema_version":0,"attributes_flat":{"id":"2"}}]},
{"mode":"data","type":"a_b","name":"d","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"attributes":{}}]}],
"check_results":[{"object_kind":"resource","config_addr":"a_b.c","status":"fail","objects":[{"object_addr":"a_b.c[0]","status":"fail","failure_messages":["no"]}]}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		state, diags := Decode(data)
		if diags.HasErrors() {
			return
		}
		first := written(t, state)
		again, diags := Decode(first)
		if diags.HasErrors() {
			t.Fatalf("what was written cannot be read: %v\n%s", diags.Err(), first)
		}
		if second := written(t, again); !bytes.Equal(first, second) {
			t.Errorf("read again it is another state\n%s\n%s", first, second)
		}
	})
}

func written(t *testing.T, state *State) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, state); err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	return buf.Bytes()
}

// FuzzDecodeResource decodes resources as the standard library does, whatever they are.
func FuzzDecodeResource(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `[]`, `{"mode":"managed","type":"a","name":"b","provider":"c","instances":[]}`, `{"mode":"managed","instances":[null]}`, `{"Mode":"data"}`, `{"mode":null}`, `{"instances":null}`, `{"mode":1}`,
		`{"module":"module.m","each":"list","instances":[{"index_key":1,"status":"tainted","deposed":"00000001","schema_version":2,"attributes":{"a":[1, 2]},"sensitive_attributes":[],"private":"cA==","dependencies":["a.b","c.d"],"create_before_destroy":true}]}`,
		`{"instances":[{"index_key":"k","attributes":null,"private":null,"dependencies":[],"schema_version":-1,"create_before_destroy":false},{"attributes_flat":{"a":"b"}}]}`,
		`{"instances":[{"schema_version":1.5}]}`, `{"instances":[{"private":"c\n=="}]}`, `{"instances":[{"index_key":1e400}]}`, `{"instances":[{"index_key":-1}]}`, `{"instances":[{"dependencies":null,"identity":{}}]}`, `{"name":"\ud800é"}`,
		`{"instances":[{"index_key":1}],"instances":[{"status":"x"}]}`, `{"instances":[{"dependencies":["a"],"dependencies":["b","c"]}]}`, `{"mode":"a"} x`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want fileResourceV4
		err, wantErr := decodeResource(data, &got), json.Unmarshal(data, &want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: got %v, want %v", data, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", data, got, want)
		}
	})
}
