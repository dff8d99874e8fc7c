package plugin_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

type vals = map[string]cty.Value

// object completes a resource's object with nulls.
func object(t *testing.T, p providers.Interface, typeName string, attrs vals) cty.Value {
	t.Helper()
	schema, diags := p.Schema(t.Context())
	mustPass(t, diags)
	v, err := schema.ResourceTypes.Get(typeName).Block.CoerceValue(cty.ObjectVal(attrs))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func startProto5(t *testing.T) providers.Interface {
	t.Helper()
	p := start(t, plugintest.Build(t, plugintest.Proto5))
	configure(t, p, vals{"endpoint": cty.StringVal("https://e")})
	return p
}

func TestProto5Life(t *testing.T) {
	t.Parallel()
	p := startProto5(t)
	config := object(t, p, "v5_thing", vals{
		"name": cty.StringVal("a"), "secret": cty.StringVal("pw"), "anything": cty.TupleVal([]cty.Value{cty.True, cty.Zero}),
		"rule": cty.TupleVal([]cty.Value{cty.ObjectVal(vals{"port": cty.NumberIntVal(443)})}),
	})
	null := cty.NullVal(config.Type())
	plan := p.PlanResourceChange(t.Context(), providers.PlanResourceChangeRequest{
		TypeName: "v5_thing", PriorState: null, Config: config, ProposedNewState: config, PriorPrivate: []byte("p"),
	})
	mustPass(t, plan.Diagnostics)
	if plan.PlannedState.GetAttr("id").IsKnown() || !plan.PlannedState.GetAttr("secret").IsNull() {
		t.Errorf("planned %#v", plan.PlannedState)
	}
	applied := p.ApplyResourceChange(t.Context(), providers.ApplyResourceChangeRequest{
		TypeName: "v5_thing", PriorState: null, Config: config, PlannedState: plan.PlannedState, PlannedPrivate: plan.PlannedPrivate,
	})
	mustPass(t, applied.Diagnostics)
	if got := applied.NewState.GetAttr("id").AsString(); got != "https://e/a/pw" {
		t.Errorf("id = %s; the write-only value or the configuration got lost", got)
	}
	if got := string(applied.Private); got != "planned:p" {
		t.Errorf("private = %q", got)
	}
	if got := applied.NewState.GetAttr("anything"); !got.RawEquals(cty.TupleVal([]cty.Value{cty.True, cty.Zero})) {
		t.Errorf("the dynamic attribute is %#v", got)
	}
	destroy := p.PlanResourceChange(t.Context(), providers.PlanResourceChangeRequest{
		TypeName: "v5_thing", PriorState: applied.NewState, Config: null, ProposedNewState: null, PriorPrivate: []byte("kept"),
	})
	mustPass(t, destroy.Diagnostics)
	if !destroy.PlannedState.IsNull() || string(destroy.PlannedPrivate) != "kept" {
		t.Errorf("destroy is planned as %#v with private %q", destroy.PlannedState, destroy.PlannedPrivate)
	}
}

func TestProto5Read(t *testing.T) {
	t.Parallel()
	p := startProto5(t)
	prior := func(name string) cty.Value {
		return object(t, p, "v5_thing", vals{"id": cty.StringVal("1"), "name": cty.StringVal(name), "anything": cty.StringVal("x")})
	}
	read := func(prior cty.Value, encoded []byte) providers.ReadResourceResponse {
		resp := p.ReadResource(t.Context(), providers.ReadResourceRequest{TypeName: "v5_thing", PriorState: prior, PriorEncoded: encoded})
		mustPass(t, resp.Diagnostics)
		return resp
	}
	same := read(prior("same"), nil)
	if !same.Unchanged || !same.NewState.RawEquals(prior("same")) {
		t.Errorf("an unchanged object reads as %#v, unchanged %v", same.NewState, same.Unchanged)
	}
	again := read(same.NewState, same.Encoded)
	if !again.Unchanged || string(again.Encoded) != string(same.Encoded) {
		t.Errorf("with its encoding an unchanged object reads as unchanged %v", again.Unchanged)
	}
	drifted := read(prior("drifted"), nil)
	if drifted.Unchanged || drifted.NewState.GetAttr("note").AsString() != "changed by hand" {
		t.Errorf("a changed object reads as %#v, unchanged %v", drifted.NewState, drifted.Unchanged)
	}
	if next := read(drifted.NewState, drifted.Encoded); !next.Unchanged {
		t.Error("what was read before reads as changed")
	}
	if gone := read(prior("gone"), nil); !gone.NewState.IsNull() || gone.Unchanged {
		t.Errorf("a missing object reads as %#v", gone.NewState)
	}
}

func TestProto5Others(t *testing.T) {
	t.Parallel()
	p := startProto5(t)
	upgraded := p.UpgradeResourceState(t.Context(), providers.UpgradeResourceStateRequest{
		TypeName: "v5_thing", Version: 1, RawJSON: []byte(`{"id":"1","title":"old","note":null,"secret":null,"anything":null,"rule":[]}`),
	})
	mustPass(t, upgraded.Diagnostics)
	if got := upgraded.UpgradedState.GetAttr("name").AsString(); got != "old" {
		t.Errorf("name = %s after the upgrade", got)
	}
	current := p.UpgradeResourceState(t.Context(), providers.UpgradeResourceStateRequest{
		TypeName: "v5_thing", Version: 2, RawJSON: []byte(`{"id":"1","name":"n","left_the_schema":[1],"note":null,"secret":null,"anything":null,"rule":[]}`),
	})
	mustPass(t, current.Diagnostics)
	if got := current.UpgradedState.GetAttr("name").AsString(); got != "n" {
		t.Errorf("name = %s", got)
	}
	imported := p.ImportResourceState(t.Context(), providers.ImportResourceStateRequest{TypeName: "v5_thing", ID: "i-1"})
	mustPass(t, imported.Diagnostics)
	if len(imported.Imported) != 1 || imported.Imported[0].State.GetAttr("id").AsString() != "i-1" || string(imported.Imported[0].Private) != "imported" {
		t.Errorf("imported %+v", imported.Imported)
	}
	echo := p.ReadDataSource(t.Context(), providers.ReadDataSourceRequest{
		TypeName: "v5_echo", Config: cty.ObjectVal(vals{"text": cty.StringVal("x"), "result": cty.NullVal(cty.String)}),
	})
	mustPass(t, echo.Diagnostics)
	if got := echo.State.GetAttr("result").AsString(); got != "echo x" {
		t.Errorf("result = %s", got)
	}
	renamed := p.PlanResourceChange(t.Context(), providers.PlanResourceChangeRequest{
		TypeName: "v5_thing", PriorState: upgraded.UpgradedState,
		Config:           object(t, p, "v5_thing", vals{"name": cty.StringVal("new")}),
		ProposedNewState: object(t, p, "v5_thing", vals{"id": cty.StringVal("1"), "name": cty.StringVal("new")}),
	})
	mustPass(t, renamed.Diagnostics)
	if len(renamed.RequiresReplace) != 1 || !renamed.RequiresReplace[0].Equals(cty.GetAttrPath("name")) {
		t.Errorf("replacement is required by %#v", renamed.RequiresReplace)
	}
	moved := p.MoveResourceState(t.Context(), providers.MoveResourceStateRequest{TargetType: "v5_thing", SourceJSON: []byte(`{}`)})
	if len(moved.Diagnostics) != 1 || moved.Diagnostics[0].Summary != "Unsupported `moved` across resource types" {
		t.Errorf("a move gives %v", moved.Diagnostics)
	}
}

func TestDiagnosticsKeepTheirPath(t *testing.T) {
	t.Parallel()
	p := startProto5(t)
	got := p.ValidateResourceConfig(t.Context(), "v5_thing", object(t, p, "v5_thing", vals{"name": cty.StringVal("bad")}))
	if len(got) != 2 {
		t.Fatalf("got %v, want an error and a warning", got)
	}
	want := cty.GetAttrPath("rule").IndexInt(0).GetAttr("port")
	if got[0].Severity != tfdiags.Error || got[0].Summary != "Bad port" || got[0].Detail != "Ports are numbers above 1024." || !got[0].Attribute.Equals(want) {
		t.Errorf("got %+v", got[0])
	}
	if got[1].Severity != tfdiags.Warning || len(got[1].Attribute) != 0 {
		t.Errorf("got %+v", got[1])
	}
}

// Every process of a provider that insists on it is asked for its schema, even
// when the schema is known from another one.
func TestSchemaIsSharedAndStillAskedFor(t *testing.T) {
	t.Parallel()
	pool := newPool(t, plugintest.Build(t, plugintest.Proto5), noOptions)
	first, second := startIn(t, pool), startIn(t, pool)
	configure(t, first, vals{"endpoint": cty.StringVal("https://1")})
	configure(t, second, vals{"endpoint": cty.StringVal("https://2")})
	one, _ := first.Schema(t.Context())
	two, _ := second.Schema(t.Context())
	if one != two {
		t.Error("two instances of one provider have schemas of their own")
	}
	for want, p := range map[string]providers.Interface{"https://1/a/": first, "https://2/a/": second} {
		config := object(t, p, "v5_thing", vals{"name": cty.StringVal("a")})
		resp := p.ApplyResourceChange(t.Context(), providers.ApplyResourceChangeRequest{
			TypeName: "v5_thing", PriorState: cty.NullVal(config.Type()), Config: config, PlannedState: config,
		})
		mustPass(t, resp.Diagnostics)
		if got := resp.NewState.GetAttr("id").AsString(); got != want {
			t.Errorf("id = %s, want %s: the configurations of two instances are mixed up", got, want)
		}
	}
}

func TestTimeProvider(t *testing.T) {
	t.Parallel()
	p := start(t, plugintest.Build(t, plugintest.Time))
	configure(t, p, vals{})
	config := object(t, p, "time_offset", vals{"base_rfc3339": cty.StringVal("2020-02-12T06:36:13Z"), "offset_days": cty.NumberIntVal(7)})
	plan := p.PlanResourceChange(t.Context(), providers.PlanResourceChangeRequest{
		TypeName: "time_offset", PriorState: cty.NullVal(config.Type()), Config: config, ProposedNewState: config,
	})
	mustPass(t, plan.Diagnostics)
	applied := p.ApplyResourceChange(t.Context(), providers.ApplyResourceChangeRequest{
		TypeName: "time_offset", PriorState: cty.NullVal(config.Type()), Config: config, PlannedState: plan.PlannedState, PlannedPrivate: plan.PlannedPrivate,
	})
	mustPass(t, applied.Diagnostics)
	if got := applied.NewState.GetAttr("rfc3339").AsString(); got != "2020-02-19T06:36:13Z" {
		t.Errorf("rfc3339 = %s", got)
	}
	read := p.ReadResource(t.Context(), providers.ReadResourceRequest{TypeName: "time_offset", PriorState: applied.NewState, Private: applied.Private})
	mustPass(t, read.Diagnostics)
	if !read.Unchanged {
		t.Errorf("an unchanged object reads as %#v", read.NewState)
	}
	parsed, err := p.CallFunction(t.Context(), "rfc3339_parse", []cty.Value{cty.StringVal("2020-02-12T06:36:13Z")})
	if err != nil || parsed.GetAttr("year").AsBigFloat().String() != "2020" {
		t.Errorf("rfc3339_parse gives %#v, %v", parsed, err)
	}
}
