package providers_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

func optional(ty cty.Type) *providers.Attribute {
	return &providers.Attribute{Type: ty, Optional: true}
}

func attrs(a map[string]*providers.Attribute) *providers.Block {
	return &providers.Block{Attributes: a}
}

func oneBlock(nesting providers.NestingMode, name string, a map[string]*providers.Attribute) *providers.Block {
	return &providers.Block{BlockTypes: map[string]*providers.NestedBlock{
		name: {Nesting: nesting, Block: providers.Block{Attributes: a}},
	}}
}

func nestedAttr(nesting providers.NestingMode, a map[string]*providers.Attribute) *providers.Block {
	return attrs(map[string]*providers.Attribute{
		"n": {Optional: true, NestedType: &providers.Object{Nesting: nesting, Attributes: a}},
	})
}

func parseBody(t *testing.T, src string) hcl.Body {
	t.Helper()
	if strings.HasPrefix(src, "{") {
		file, diags := json.Parse([]byte(src), "test.tf.json")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return file.Body
	}
	file, diags := hclsyntax.ParseConfig([]byte(src), "test.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return file.Body
}

var (
	strA   = map[string]*providers.Attribute{"a": optional(cty.String)}
	dynA   = map[string]*providers.Attribute{"a": optional(cty.DynamicPseudoType)}
	objA   = cty.Object(map[string]cty.Type{"a": cty.String})
	legacy = attrs(map[string]*providers.Attribute{"rule": optional(cty.List(cty.Object(map[string]cty.Type{
		"a": cty.String, "sub": cty.Set(objA),
	})))})
)

func a(s string) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal(s)}) }

func root(name string, v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{name: v}) }

func TestDecode(t *testing.T) {
	t.Parallel()
	twoNested := map[string]*providers.Attribute{
		"a": {Type: cty.String, Required: true},
		"b": {Type: cty.Number, Optional: true, Computed: true},
	}
	ab := func(s string, n cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal(s), "b": n})
	}
	nestedInBlock := &providers.Block{BlockTypes: map[string]*providers.NestedBlock{
		"b": {Nesting: providers.NestingList, Block: providers.Block{
			Attributes: nestedAttr(providers.NestingSingle, twoNested).Attributes,
		}},
	}}
	tests := map[string]struct {
		schema *providers.Block
		src    string
		want   cty.Value
		diag   string
	}{
		"attributes convert": {
			schema: attrs(map[string]*providers.Attribute{"s": optional(cty.String), "l": optional(cty.List(cty.String)), "x": {Type: cty.Bool, Computed: true}}),
			src:    `s = 5` + "\n" + `l = [1, true]`,
			want: cty.ObjectVal(map[string]cty.Value{
				"s": cty.StringVal("5"), "x": cty.NullVal(cty.Bool),
				"l": cty.ListVal([]cty.Value{cty.StringVal("1"), cty.StringVal("true")}),
			}),
		},
		"missing required": {
			schema: attrs(map[string]*providers.Attribute{"s": {Type: cty.String, Required: true}}),
			src:    ``, diag: "Missing required argument",
		},
		"single absent":      {schema: oneBlock(providers.NestingSingle, "b", strA), want: root("b", cty.NullVal(objA))},
		"group absent":       {schema: oneBlock(providers.NestingGroup, "b", strA), want: root("b", cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.String)}))},
		"list absent":        {schema: oneBlock(providers.NestingList, "b", strA), want: root("b", cty.ListValEmpty(objA))},
		"list":               {schema: oneBlock(providers.NestingList, "b", strA), src: "b {\n a = \"x\"\n}\nb {\n a = \"y\"\n}", want: root("b", cty.ListVal([]cty.Value{a("x"), a("y")}))},
		"list dynamic":       {schema: oneBlock(providers.NestingList, "b", dynA), src: "b {\n a = \"x\"\n}\nb {\n a = 1\n}", want: root("b", cty.TupleVal([]cty.Value{a("x"), cty.ObjectVal(map[string]cty.Value{"a": cty.NumberIntVal(1)})}))},
		"list dynamic empty": {schema: oneBlock(providers.NestingList, "b", dynA), want: root("b", cty.EmptyTupleVal)},
		"set":                {schema: oneBlock(providers.NestingSet, "b", strA), src: "b {\n a = \"x\"\n}\nb {\n a = \"x\"\n}", want: root("b", cty.SetVal([]cty.Value{a("x")}))},
		"map":                {schema: oneBlock(providers.NestingMap, "b", strA), src: "b \"k\" {\n a = \"x\"\n}", want: root("b", cty.MapVal(map[string]cty.Value{"k": a("x")}))},
		"map dynamic":        {schema: oneBlock(providers.NestingMap, "b", dynA), src: "b \"k\" {\n a = \"x\"\n}", want: root("b", cty.ObjectVal(map[string]cty.Value{"k": a("x")}))},
		"too many": {
			schema: &providers.Block{BlockTypes: map[string]*providers.NestedBlock{"b": {Nesting: providers.NestingList, MaxItems: 1}}},
			src:    "b {}\nb {}", diag: "Too many b blocks",
		},
		"required single": {
			schema: &providers.Block{BlockTypes: map[string]*providers.NestedBlock{"b": {Nesting: providers.NestingSingle, MinItems: 1, MaxItems: 1}}},
			src:    "", diag: "Missing b block",
		},
		"nested attributes fill optionals": {
			schema: nestedAttr(providers.NestingList, twoNested), src: `n = [{ a = "x" }, { a = "y", b = "2" }]`,
			want: root("n", cty.ListVal([]cty.Value{ab("x", cty.NullVal(cty.Number)), ab("y", cty.NumberIntVal(2))})),
		},
		"nested attribute required": {
			schema: nestedAttr(providers.NestingMap, twoNested), src: `n = { k = { b = 1 } }`, diag: "Incorrect attribute value type",
		},
		"nested list with dynamic attribute stays a list": {
			schema: nestedAttr(providers.NestingList, dynA), src: `n = [{ a = "x" }, { a = "y" }]`,
			want: root("n", cty.ListVal([]cty.Value{a("x"), a("y")})),
		},
		"empty block list of nested attributes": {
			schema: nestedInBlock, src: ``,
			want: root("b", cty.ListValEmpty(cty.Object(map[string]cty.Type{"n": cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.Number})}))),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diags := test.schema.Decode(parseBody(t, test.src), nil)
			checkDecoded(t, test.schema, got, diags, test.want, test.diag)
		})
	}
}

func checkDecoded(t *testing.T, schema *providers.Block, got cty.Value, diags hcl.Diagnostics, want cty.Value, diag string) {
	t.Helper()
	if problems := got.Type().TestConformance(schema.ImpliedType()); len(problems) > 0 {
		t.Errorf("the value does not conform to the implied type: %v", problems)
	}
	if diag != "" {
		if !diags.HasErrors() || diags[0].Summary != diag {
			t.Errorf("got diagnostics %v, want %q", diags, diag)
		}
		return
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if !got.RawEquals(want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
}

func TestDecodeBlocksAsAttributes(t *testing.T) {
	t.Parallel()
	elem := func(s cty.Value, sub ...cty.Value) cty.Value {
		set := cty.NullVal(cty.Set(objA))
		if len(sub) > 0 {
			set = cty.SetVal(sub)
		}
		return cty.ObjectVal(map[string]cty.Value{"a": s, "sub": set})
	}
	list := func(vals ...cty.Value) cty.Value { return root("rule", cty.ListVal(vals)) }
	tests := map[string]struct {
		src  string
		want cty.Value
		diag string
	}{
		"attribute":       {src: `rule = [{ a = "x", sub = null }]`, want: list(elem(cty.StringVal("x")))},
		"empty attribute": {src: `rule = []`, want: root("rule", cty.ListValEmpty(legacy.ImpliedType().AttributeType("rule").ElementType()))},
		"blocks":          {src: "rule {\n a = \"x\"\n}\nrule {\n a = v\n}", want: list(elem(cty.StringVal("x")), elem(cty.StringVal("V")))},
		"blocks in blocks": {
			src:  "rule {\n sub {\n a = \"x\"\n }\n sub {\n a = \"y\"\n }\n}",
			want: list(elem(cty.NullVal(cty.String), a("x"), a("y"))),
		},
		"dynamic blocks": {
			src:  "dynamic \"rule\" {\n for_each = [\"p\", \"q\"]\n content {\n  a = rule.value\n }\n}",
			want: list(elem(cty.StringVal("p")), elem(cty.StringVal("q"))),
		},
		"no dynamic blocks": {
			src:  "dynamic \"rule\" {\n for_each = []\n content {\n  a = rule.value\n }\n}",
			want: root("rule", cty.NullVal(legacy.ImpliedType().AttributeType("rule"))),
		},
		"nothing": {src: ``, want: root("rule", cty.NullVal(legacy.ImpliedType().AttributeType("rule")))},
		"json":    {src: `{"rule": [{"a": "x", "sub": null}]}`, want: list(elem(cty.StringVal("x")))},
		"unknown": {src: "rule {\n nope = 1\n}", diag: "Unsupported argument"},
	}
	hclCtx := &hcl.EvalContext{Variables: map[string]cty.Value{"v": cty.StringVal("V")}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diags := legacy.Decode(dynblock.Expand(parseBody(t, test.src), hclCtx), hclCtx)
			checkDecoded(t, legacy, got, diags, test.want, test.diag)
		})
	}
}

func TestBlocksAsAttributesOnlyForLegacySchemas(t *testing.T) {
	t.Parallel()
	schema := attrs(map[string]*providers.Attribute{
		"rule":   optional(cty.List(objA)),
		"modern": {Optional: true, NestedType: &providers.Object{Nesting: providers.NestingSingle, Attributes: strA}},
	})
	_, diags := schema.Decode(parseBody(t, "rule {\n a = \"x\"\n}"), nil)
	if !diags.HasErrors() || diags[0].Summary != "Unsupported block type" {
		t.Errorf("got diagnostics %v, want the block refused", diags)
	}
}

func TestBodyVariables(t *testing.T) {
	t.Parallel()
	schema := &providers.Block{
		Attributes: legacy.Attributes,
		BlockTypes: map[string]*providers.NestedBlock{"b": {Nesting: providers.NestingList, Block: providers.Block{Attributes: strA}}},
	}
	tests := map[string]struct {
		src  string
		want string
	}{
		"attribute":       {src: `rule = [{ a = x.y }]`, want: "x"},
		"block":           {src: "b {\n a = x\n}", want: "x"},
		"block as attr":   {src: "rule {\n a = x\n sub {\n  a = y\n }\n}", want: "x,y"},
		"dynamic":         {src: "dynamic \"b\" {\n for_each = x\n content {\n  a = \"${b.value}${y}\"\n }\n}", want: "x,y"},
		"dynamic as attr": {src: "dynamic \"rule\" {\n for_each = x\n content {\n  a = \"${rule.key}${y}\"\n }\n}", want: "x,y"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, traversal := range providers.BodyVariables(parseBody(t, test.src), schema) {
				got = append(got, traversal.RootName())
			}
			if strings.Join(got, ",") != test.want {
				t.Errorf("got %v, want %s", got, test.want)
			}
		})
	}
}
