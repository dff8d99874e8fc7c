package objchange_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// ownership makes a random rule over the names that generated schemas have.
func (g generator) ownership() control.Ownership {
	patterns := []string{"key", "a0", "a1", "b0", "b1", "b0.a0", "b0[0]", "b0.key", "a0.x", `a0["k0"]`, "a*", "*.a1", "**.key", "b1[*].a0", `a1["*"]`, "*", "b0.b0.key"}
	some := func() []string {
		var out []string
		for range 1 + g.IntN(3) {
			out = append(out, patterns[g.IntN(len(patterns))])
		}
		return out
	}
	var part control.OwnedPart
	if g.IntN(2) == 0 {
		part.Only = some()
	}
	if g.IntN(2) == 0 || len(part.Only) == 0 {
		part.Except = some()
	}
	return control.Ownership{Parts: []control.OwnedPart{part}}
}

// TestUnownedAttributesNeverChange: whatever a configuration asks for and whoever
// owns what, nothing that is not owned is proposed to be changed.
func TestUnownedAttributesNeverChange(t *testing.T) {
	t.Parallel()
	owned := 0
	eachCase(t, func(t *testing.T, g generator, schema *providers.Block, real cty.Value) {
		if real.IsNull() {
			return
		}
		own := g.ownership()
		config := g.object(schema, how{config: true, unknown: true})
		kept := objchange.KeepUnowned(schema, config, real, own)
		if problems := kept.Type().TestConformance(schema.ImpliedType()); len(problems) > 0 {
			t.Errorf("what is kept does not conform: %v", problems)
		}
		proposed := objchange.ProposedNew(schema, real, kept)
		if strays := objchange.Strays(schema, real, proposed, own); len(strays) > 0 {
			t.Errorf("%+v: %v would change\nconfig %#v\nkept %#v\nproposed %#v", own, strays, config, kept, proposed)
		}
		if !kept.RawEquals(config) && !proposed.RawEquals(real) {
			owned++
		}
	})
	if owned < rounds/10 {
		t.Errorf("in %d of %d cases only something was kept and something changed; the test says little", owned, rounds)
	}
}

func TestKeepUnowned(t *testing.T) {
	t.Parallel()
	text := func(values ...string) cty.Value {
		vals := map[string]cty.Value{}
		for i := 0; i < len(values); i += 2 {
			vals[values[i]] = cty.StringVal(values[i+1])
		}
		return cty.MapVal(vals)
	}
	schema := &providers.Block{
		Attributes: map[string]*providers.Attribute{
			"id": {Type: cty.String, Computed: true}, "size": {Type: cty.Number, Optional: true},
			"tags": {Type: cty.Map(cty.String), Optional: true}, "zones": {Type: cty.Set(cty.String), Optional: true},
		},
		BlockTypes: map[string]*providers.NestedBlock{"disk": {Nesting: providers.NestingList, Block: providers.Block{Attributes: map[string]*providers.Attribute{
			"gib": {Type: cty.Number, Optional: true}, "kind": {Type: cty.String, Optional: true, Computed: true}, "serial": {Type: cty.String, Computed: true},
		}}}},
	}
	disk := func(gib int64, kind, serial string) cty.Value {
		vals := map[string]cty.Value{"gib": cty.NumberIntVal(gib), "kind": cty.StringVal(kind), "serial": cty.StringVal(serial)}
		for name, v := range vals {
			if v.RawEquals(cty.StringVal("")) {
				vals[name] = cty.NullVal(cty.String)
			}
		}
		return cty.ObjectVal(vals)
	}
	object := func(id string, size int64, tags cty.Value, zones []string, disks ...cty.Value) cty.Value {
		vals := map[string]cty.Value{"id": cty.StringVal(id), "size": cty.NumberIntVal(size), "tags": tags, "disk": cty.ListVal(disks)}
		if id == "" {
			vals["id"] = cty.NullVal(cty.String)
		}
		set := make([]cty.Value, len(zones))
		for i, zone := range zones {
			set[i] = cty.StringVal(zone)
		}
		vals["zones"] = cty.SetVal(set)
		return cty.ObjectVal(vals)
	}
	config := object("", 1, text("a", "mine", "b", "mine"), []string{"x"}, disk(1, "", ""))
	real := object("i", 9, text("a", "theirs", "c", "theirs"), []string{"y"}, disk(9, "ssd", "s"))
	tests := map[string]struct {
		part control.OwnedPart
		want cty.Value
	}{
		"everything":           {control.OwnedPart{}, config},
		"one attribute":        {control.OwnedPart{Only: []string{"size"}}, object("", 1, text("a", "theirs", "c", "theirs"), []string{"y"}, disk(9, "ssd", ""))},
		"all but one":          {control.OwnedPart{Except: []string{"size"}}, object("", 9, text("a", "mine", "b", "mine"), []string{"x"}, disk(1, "", ""))},
		"one key":              {control.OwnedPart{Only: []string{`tags["b"]`}}, object("", 9, text("a", "theirs", "b", "mine", "c", "theirs"), []string{"y"}, disk(9, "ssd", ""))},
		"all but one key":      {control.OwnedPart{Except: []string{`tags["a"]`}}, object("", 1, text("a", "theirs", "b", "mine"), []string{"x"}, disk(1, "", ""))},
		"a key nobody has set": {control.OwnedPart{Only: []string{`tags["c"]`}}, object("", 9, text("a", "theirs"), []string{"y"}, disk(9, "ssd", ""))},
		"inside a block":       {control.OwnedPart{Only: []string{"disk.gib"}}, object("", 9, text("a", "theirs", "c", "theirs"), []string{"y"}, disk(1, "ssd", ""))},
		"but inside a block":   {control.OwnedPart{Except: []string{"disk[0].gib"}}, object("", 1, text("a", "mine", "b", "mine"), []string{"x"}, disk(9, "", ""))},
		"of any depth":         {control.OwnedPart{Except: []string{"**.gib"}}, object("", 1, text("a", "mine", "b", "mine"), []string{"x"}, disk(9, "", ""))},
		"any of any depth":     {control.OwnedPart{Only: []string{"**.gib"}}, object("", 9, text("a", "theirs", "c", "theirs"), []string{"y"}, disk(1, "ssd", ""))},
		"part of a set":        {control.OwnedPart{Except: []string{"zones[*]"}}, object("", 1, text("a", "mine", "b", "mine"), []string{"y"}, disk(1, "", ""))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := objchange.KeepUnowned(schema, config, real, control.Ownership{Parts: []control.OwnedPart{test.part}})
			if !got.RawEquals(test.want) {
				t.Errorf("got  %#v\nwant %#v", got, test.want)
			}
		})
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	schema := &providers.Block{
		Attributes: map[string]*providers.Attribute{
			"id": {Type: cty.String, Computed: true}, "tags": {Type: cty.Map(cty.String), Optional: true}, "free": {Type: cty.DynamicPseudoType, Optional: true},
			"port": {Optional: true, NestedType: &providers.Object{Nesting: providers.NestingMap, Attributes: map[string]*providers.Attribute{"n": {Type: cty.Number, Required: true}, "seen": {Type: cty.Bool, Computed: true}}}},
		},
		BlockTypes: map[string]*providers.NestedBlock{"rule": {Nesting: providers.NestingSet, Block: providers.Block{Attributes: map[string]*providers.Attribute{"to": {Type: cty.String, Required: true}}}}},
	}
	port := func(n int64, seen bool) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"n": cty.NumberIntVal(n), "seen": cty.BoolVal(seen)})
	}
	base := map[string]cty.Value{
		"id": cty.StringVal("i"), "tags": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("1")}), "free": cty.TupleVal([]cty.Value{cty.True, cty.ObjectVal(map[string]cty.Value{"x": cty.Zero})}),
		"port": cty.MapVal(map[string]cty.Value{"p": port(1, false)}), "rule": cty.SetVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"to": cty.StringVal("a")})}),
	}
	tests := map[string]struct {
		change map[string]cty.Value
		want   []objchange.Difference
	}{
		"nothing":              {nil, nil},
		"computed":             {map[string]cty.Value{"id": cty.StringVal("j")}, []objchange.Difference{{Path: "id", Computed: true}}},
		"keys of a map":        {map[string]cty.Value{"tags": cty.MapVal(map[string]cty.Value{"b.c": cty.StringVal("1")})}, []objchange.Difference{{Path: `tags["a"]`}, {Path: `tags["b.c"]`}}},
		"a map that is gone":   {map[string]cty.Value{"tags": cty.NullVal(cty.Map(cty.String))}, []objchange.Difference{{Path: `tags["a"]`}}},
		"nested":               {map[string]cty.Value{"port": cty.MapVal(map[string]cty.Value{"p": port(2, true)})}, []objchange.Difference{{Path: `port["p"].n`}, {Path: `port["p"].seen`, Computed: true}}},
		"a set is one":         {map[string]cty.Value{"rule": cty.SetVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"to": cty.StringVal("b")})})}, []objchange.Difference{{Path: "rule"}}},
		"inside of any type":   {map[string]cty.Value{"free": cty.TupleVal([]cty.Value{cty.True, cty.ObjectVal(map[string]cty.Value{"x": cty.NumberIntVal(1)})})}, []objchange.Difference{{Path: "free[1].x"}}},
		"another type":         {map[string]cty.Value{"free": cty.True}, []objchange.Difference{{Path: "free"}}},
		"planned but unknown":  {map[string]cty.Value{"tags": cty.UnknownVal(cty.Map(cty.String))}, []objchange.Difference{{Path: "tags"}}},
		"an element is unsure": {map[string]cty.Value{"tags": cty.MapVal(map[string]cty.Value{"a": cty.UnknownVal(cty.String)})}, []objchange.Difference{{Path: `tags["a"]`}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := map[string]cty.Value{}
			for attr, v := range base {
				after[attr] = v
			}
			for attr, v := range test.change {
				after[attr] = v
			}
			got := objchange.Differences(schema, cty.ObjectVal(base), cty.ObjectVal(after))
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(objchange.Difference{}, "Type")); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOwnedOrChangedKeepsDifferences: whatever is left out, the two differ where they did.
func TestOwnedOrChangedKeepsDifferences(t *testing.T) {
	t.Parallel()
	eachCase(t, func(t *testing.T, g generator, schema *providers.Block, before cty.Value) {
		if before.IsNull() {
			return
		}
		own, after := g.ownership(), g.object(schema, how{})
		was, is := objchange.OwnedOrChanged(schema, before, after, own)
		for _, v := range []cty.Value{was, is} {
			if problems := v.Type().TestConformance(schema.ImpliedType()); len(problems) > 0 {
				t.Errorf("what is left does not conform: %v", problems)
			}
		}
		if diff := cmp.Diff(objchange.Differences(schema, before, after), objchange.Differences(schema, was, is), cmpopts.IgnoreFields(objchange.Difference{}, "Type")); diff != "" {
			t.Errorf("%+v: other differences\n%s", own, diff)
		}
	})
}

// TestOwnedOrChanged: what others set does not show in what is kept of a change, unless it changes.
func TestOwnedOrChanged(t *testing.T) {
	t.Parallel()
	disk := map[string]*providers.Attribute{"gib": {Type: cty.Number, Optional: true}, "kind": {Type: cty.String, Optional: true}}
	schema := &providers.Block{
		Attributes: map[string]*providers.Attribute{
			"id": {Type: cty.String, Computed: true}, "size": {Type: cty.Number, Optional: true}, "secret": {Type: cty.String, Optional: true, Sensitive: true},
			"tags": {Type: cty.Map(cty.String), Optional: true},
		},
		BlockTypes: map[string]*providers.NestedBlock{"disk": {Nesting: providers.NestingList, Block: providers.Block{Attributes: disk}}},
	}
	object := func(size int64, secret, tag, kind string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{
			"id": cty.StringVal("i"), "size": cty.NumberIntVal(size), "secret": cty.StringVal(secret),
			"tags": cty.MapVal(map[string]cty.Value{"mine": cty.StringVal("m"), "theirs": cty.StringVal(tag)}),
			"disk": cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"gib": cty.NumberIntVal(1), "kind": cty.StringVal(kind)})}),
		})
	}
	own := control.Ownership{Parts: []control.OwnedPart{{Only: []string{"size", `tags["mine"]`, "disk.gib"}}}}
	kept := func(secretBefore, secretAfter, tag, kind string) [2]string {
		was, is := objchange.OwnedOrChanged(schema, object(1, secretBefore, tag, kind), object(2, secretAfter, tag, kind), own)
		return [2]string{was.GoString(), is.GoString()}
	}
	if a, b := kept("s", "s", "x", "ssd"), kept("other", "other", "y", "hdd"); a != b {
		t.Errorf("what others set shows:\n%v\n%v", a, b)
	}
	if a, b := kept("s", "s", "x", "ssd"), kept("s", "t", "x", "ssd"); a == b {
		t.Error("a change of what is not owned does not show")
	}
	was, is := objchange.OwnedOrChanged(schema, object(1, "s", "x", "ssd"), object(2, "s", "x", "ssd"), control.Ownership{Parts: []control.OwnedPart{{}}})
	if !was.RawEquals(object(1, "s", "x", "ssd")) || !is.RawEquals(object(2, "s", "x", "ssd")) {
		t.Error("something is left out where everything is owned")
	}
}
