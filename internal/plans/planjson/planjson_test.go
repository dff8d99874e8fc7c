package planjson_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/planjson"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// Whole documents are compared with terraform's in package parity. Here is what
// can be seen without it.

// schemas has terraform_data with less than its attributes.
func schemas() planjson.Schemas {
	block := &providers.Block{Attributes: map[string]*providers.Attribute{
		"id":    {Type: cty.String, Computed: true},
		"input": {Type: cty.DynamicPseudoType, Optional: true},
	}}
	return planjson.Schemas{addrs.BuiltInProvider: {ResourceTypes: providers.SchemaMap{"terraform_data": {Block: block}}}}
}

func instance(t *testing.T, text string) addrs.ResourceInstance {
	t.Helper()
	addr, diags := addrs.ParseResourceInstance(text)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return addr
}

func object(id string, input cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id), "input": input})
}

var provider = addrs.ProviderConfig{Provider: addrs.BuiltInProvider}

// Modules are ordered by the text of their addresses, and instances by number.
func TestStateOrder(t *testing.T) {
	t.Parallel()
	state := states.New()
	for _, addr := range []string{"terraform_data.a[10]", "terraform_data.a[2]", "module.m[2].terraform_data.b", "module.m[10].terraform_data.b", "module.m[2].module.n.terraform_data.c"} {
		state.SetObject(instance(t, addr), provider, &states.Object{AttrsJSON: []byte(`{"id":"x","input":null}`)})
	}
	doc, err := planjson.State(state, schemas())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, part := range strings.Split(string(doc), `"address":"`)[1:] {
		addr, _, _ := strings.Cut(part, `"`)
		got = append(got, strings.ReplaceAll(addr, `\`, ""))
	}
	want := []string{
		"terraform_data.a[2]", "terraform_data.a[10]",
		"module.m[10].terraform_data.b", "module.m[10]",
		"module.m[2].terraform_data.b", "module.m[2]", "module.m[2].module.n.terraform_data.c", "module.m[2].module.n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order differs (-want +got):\n%s\n%s", diff, doc)
	}
}

func TestChangesOfAPlan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte("resource \"terraform_data\" \"a\" {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config, diags := configs.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	unknown := cty.UnknownVal(cty.String)
	tests := map[string]struct {
		change plans.Change
		want   string
	}{
		"replaced": {
			plans.Change{
				Action: plans.CreateThenDelete, Reason: plans.ReplaceBecauseCannotUpdate,
				Before: object("x", cty.StringVal("old")), After: cty.ObjectVal(map[string]cty.Value{"id": unknown, "input": cty.StringVal("new")}),
				RequiredReplace: []cty.Path{cty.GetAttrPath("input")},
			},
			`{"actions":["create","delete"],"before":{"id":"x","input":"old"},"after":{"input":"new"},"after_unknown":{"id":true},"before_sensitive":{},"after_sensitive":{},"replace_paths":[["input"]]}`,
		},
		"sensitive": {
			plans.Change{
				Action: plans.Update, Before: object("x", cty.StringVal("old")), After: object("x", cty.ListVal([]cty.Value{unknown})),
				AfterSensitive: []cty.Path{cty.GetAttrPath("input")},
			},
			`{"actions":["update"],"before":{"id":"x","input":"old"},"after":{"id":"x","input":[null]},"after_unknown":{"input":[true]},"before_sensitive":{},"after_sensitive":{"input":true}}`,
		},
		"destroyed": {
			plans.Change{Action: plans.Delete, Before: object("x", cty.NumberIntVal(1)), After: cty.NullVal(cty.DynamicPseudoType)},
			`{"actions":["delete"],"before":{"id":"x","input":1},"after":null,"after_unknown":{},"before_sensitive":{},"after_sensitive":false}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.change.Addr, test.change.Provider = instance(t, "terraform_data.a"), provider
			test.change.PrevAddr = test.change.Addr
			doc, err := planjson.Plan(&plans.Plan{Prior: states.New(), Changes: []*plans.Change{&test.change}}, config, schemas())
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Changes []struct{ Change any } `json:"resource_changes"`
			}
			var want any
			if err := json.Unmarshal(doc, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if len(got.Changes) != 1 {
				t.Fatalf("%d changes in %s", len(got.Changes), doc)
			}
			if diff := cmp.Diff(want, got.Changes[0].Change); diff != "" {
				t.Errorf("change differs (-want +got):\n%s", diff)
			}
		})
	}
}

// A variable takes values of any type, so that a call's arguments have none.
func TestArgumentsOfACall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"main.tf":       "module \"m\" {\n  source = \"./m\"\n  zone   = local.zone\n  size   = 3\n}\nlocals {\n  zone = \"a\"\n}\n",
		"m/variable.tf": "variable \"zone\" {}\nvariable \"size\" {}\nvariable \"spare\" {\n  default = null\n}\n",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, diags := configs.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	doc, err := planjson.Plan(&plans.Plan{Prior: states.New()}, config, schemas())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Configuration struct {
			Root struct {
				Calls map[string]struct{ Expressions any } `json:"module_calls"`
			} `json:"root_module"`
		}
	}
	if err := json.Unmarshal(doc, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"zone": map[string]any{"references": []any{"local.zone"}},
		"size": map[string]any{"constant_value": 3.0},
	}
	if diff := cmp.Diff(want, got.Configuration.Root.Calls["m"].Expressions); diff != "" {
		t.Errorf("arguments differ (-want +got):\n%s\n%s", diff, doc)
	}
}

func TestObjectsNeedASchema(t *testing.T) {
	t.Parallel()
	state := states.New()
	state.SetObject(instance(t, "other_thing.a"), provider, &states.Object{AttrsJSON: []byte(`{}`)})
	if doc, err := planjson.State(state, schemas()); err == nil || !strings.Contains(err.Error(), "other_thing") {
		t.Errorf("got %s and %v, want an error that names the type", doc, err)
	}
}
