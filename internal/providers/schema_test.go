package providers_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

func TestCoerceValue(t *testing.T) {
	t.Parallel()
	schema := &providers.Block{
		Attributes: map[string]*providers.Attribute{
			"id": {Type: cty.String, Computed: true}, "name": {Type: cty.String, Required: true},
			"n": {Optional: true, NestedType: &providers.Object{Nesting: providers.NestingSingle, Attributes: strA}},
		},
		BlockTypes: map[string]*providers.NestedBlock{
			"b": {Nesting: providers.NestingList, Block: providers.Block{Attributes: strA}},
			"g": {Nesting: providers.NestingGroup, Block: providers.Block{Attributes: strA}},
			"d": {Nesting: providers.NestingList, Block: providers.Block{Attributes: dynA}},
			"m": {Nesting: providers.NestingMap, Block: providers.Block{Attributes: strA}},
		},
	}
	full := func(change map[string]cty.Value) cty.Value {
		vals := map[string]cty.Value{
			"id": cty.NullVal(cty.String), "name": cty.StringVal("1"), "n": cty.NullVal(objA),
			"b": cty.ListValEmpty(objA), "g": cty.ObjectVal(map[string]cty.Value{"a": cty.NullVal(cty.String)}),
			"d": cty.EmptyTupleVal, "m": cty.MapValEmpty(objA),
		}
		for k, v := range change {
			vals[k] = v
		}
		return cty.ObjectVal(vals)
	}
	in := func(k string, v cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"name": cty.NumberIntVal(1), k: v})
	}
	tests := map[string]struct {
		in, want cty.Value
		err      string
	}{
		"absent parts":       {in: cty.ObjectVal(map[string]cty.Value{"name": cty.NumberIntVal(1)}), want: full(nil)},
		"null":               {in: cty.NullVal(cty.DynamicPseudoType), want: cty.NullVal(schema.ImpliedType())},
		"unknown":            {in: cty.DynamicVal, want: cty.UnknownVal(schema.ImpliedType())},
		"tuple to list":      {in: in("b", cty.TupleVal([]cty.Value{a("x")})), want: full(map[string]cty.Value{"b": cty.ListVal([]cty.Value{a("x")})})},
		"mixed dynamic":      {in: in("d", cty.TupleVal([]cty.Value{a("x"), root("a", cty.True)})), want: full(map[string]cty.Value{"d": cty.TupleVal([]cty.Value{a("x"), root("a", cty.True)})})},
		"object to map":      {in: in("m", cty.ObjectVal(map[string]cty.Value{"k": cty.EmptyObjectVal})), want: full(map[string]cty.Value{"m": cty.MapVal(map[string]cty.Value{"k": root("a", cty.NullVal(cty.String))})})},
		"unknown blocks":     {in: in("b", cty.DynamicVal), want: full(map[string]cty.Value{"b": cty.UnknownVal(cty.List(objA))})},
		"nested optional":    {in: in("n", cty.EmptyObjectVal), want: full(map[string]cty.Value{"n": root("a", cty.NullVal(cty.String))})},
		"marks stay":         {in: in("b", cty.TupleVal([]cty.Value{a("x")}).Mark("m")), want: full(map[string]cty.Value{"b": cty.ListVal([]cty.Value{a("x")}).Mark("m")})},
		"not an object":      {in: cty.StringVal("x"), err: "an object is required"},
		"missing required":   {in: cty.EmptyObjectVal, err: `attribute "name" is required`},
		"unexpected":         {in: in("zzz", cty.True), err: `unexpected attribute "zzz"`},
		"wrong type":         {in: in("id", cty.EmptyTupleVal), err: "string required"},
		"blocks not a list":  {in: in("b", cty.True), err: "must be a collection of blocks"},
		"block wrong inside": {in: in("b", cty.TupleVal([]cty.Value{root("zzz", cty.True)})), err: `unexpected attribute "zzz"`},
		"map with int keys":  {in: in("m", cty.TupleVal([]cty.Value{a("x")})), err: "must be a map"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := schema.CoerceValue(test.in)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !got.RawEquals(test.want) {
				t.Errorf("got  %#v\nwant %#v", got, test.want)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	secret := map[string]*providers.Attribute{
		"p": {Type: cty.String, Optional: true, Sensitive: true},
		"w": {Type: cty.String, Optional: true, WriteOnly: true},
	}
	schema := &providers.Block{
		Attributes: map[string]*providers.Attribute{
			"top":    {Type: cty.String, Optional: true, Sensitive: true},
			"plain":  optional(cty.String),
			"nested": {Optional: true, NestedType: &providers.Object{Nesting: providers.NestingMap, Attributes: secret}},
		},
		BlockTypes: map[string]*providers.NestedBlock{
			"b": {Nesting: providers.NestingList, Block: providers.Block{Attributes: secret}},
			"x": {Nesting: providers.NestingSingle, Block: providers.Block{Attributes: secret}},
		},
	}
	pw := cty.ObjectVal(map[string]cty.Value{"p": cty.StringVal("s"), "w": cty.NullVal(cty.String)})
	value := cty.ObjectVal(map[string]cty.Value{
		"top": cty.NullVal(cty.String), "plain": cty.StringVal("x"),
		"nested": cty.MapVal(map[string]cty.Value{"k": pw}),
		"b":      cty.ListVal([]cty.Value{pw}), "x": cty.NullVal(pw.Type()),
	})
	wantSensitive := []cty.Path{
		cty.GetAttrPath("nested").IndexString("k").GetAttr("p"), cty.GetAttrPath("top"), cty.GetAttrPath("b").IndexInt(0).GetAttr("p"),
	}
	wantWriteOnly := []cty.Path{
		cty.GetAttrPath("nested").IndexString("k").GetAttr("w"), cty.GetAttrPath("b").IndexInt(0).GetAttr("w"),
	}
	checkPaths(t, "sensitive", schema.SensitivePaths(value), wantSensitive)
	checkPaths(t, "write-only", schema.WriteOnlyPaths(value), wantWriteOnly)
	checkPaths(t, "null object", schema.SensitivePaths(cty.NullVal(schema.ImpliedType())), nil)
	checkPaths(t, "unknown object", schema.WriteOnlyPaths(cty.UnknownVal(schema.ImpliedType())), nil)
	for _, path := range append(wantSensitive, wantWriteOnly...) {
		if attr := schema.AttributeByPath(path); attr == nil || !attr.Sensitive && !attr.WriteOnly {
			t.Errorf("AttributeByPath(%#v) = %v", path, attr)
		}
	}
	for _, path := range []cty.Path{cty.GetAttrPath("b"), cty.GetAttrPath("none"), cty.GetAttrPath("top").GetAttr("deep"), cty.GetAttrPath("nested").IndexString("k").GetAttr("none")} {
		if attr := schema.AttributeByPath(path); attr != nil {
			t.Errorf("AttributeByPath(%#v) = %v, want nil", path, attr)
		}
	}
}

func checkPaths(t *testing.T, name string, got, want []cty.Path) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %#v, want %#v", name, got, want)
		return
	}
	for i := range got {
		if !got[i].Equals(want[i]) {
			t.Errorf("%s: path %d is %#v, want %#v", name, i, got[i], want[i])
		}
	}
}

func TestInternalValidate(t *testing.T) {
	t.Parallel()
	block := func(n *providers.NestedBlock) *providers.Block {
		return &providers.Block{BlockTypes: map[string]*providers.NestedBlock{"b": n}}
	}
	tests := map[string]struct {
		schema *providers.Block
		want   string
	}{
		"good":            {schema: oneBlock(providers.NestingList, "b", strA)},
		"no mode":         {schema: attrs(map[string]*providers.Attribute{"a": {Type: cty.String}}), want: "a: must be optional, required or computed"},
		"two modes":       {schema: attrs(map[string]*providers.Attribute{"a": {Type: cty.String, Required: true, Computed: true}}), want: "a: cannot be required"},
		"no type":         {schema: attrs(map[string]*providers.Attribute{"a": {Optional: true}}), want: "a: has no type"},
		"nil attribute":   {schema: attrs(map[string]*providers.Attribute{"a": nil}), want: "a: attribute schema is missing"},
		"two types":       {schema: attrs(map[string]*providers.Attribute{"a": {Optional: true, Type: cty.String, NestedType: &providers.Object{Nesting: providers.NestingSingle}}}), want: "both a type and nested"},
		"nested no mode":  {schema: nestedAttr(providers.NestingInvalid, strA), want: "n: unknown nesting mode 0"},
		"nested group":    {schema: nestedAttr(providers.NestingGroup, strA), want: "n: unknown nesting mode 2"},
		"nested set dyn":  {schema: nestedAttr(providers.NestingSet, dynA), want: "n: a set may not hold"},
		"nested bad type": {schema: nestedAttr(providers.NestingSet, map[string]*providers.Attribute{"a": {Optional: true}}), want: "n.a: has no type"},
		"nil block":       {schema: &providers.Block{BlockTypes: map[string]*providers.NestedBlock{"b": nil}}, want: "b: block schema is missing"},
		"bad block name":  {schema: oneBlock(providers.NestingList, "B-1", strA), want: "B-1: a block's name"},
		"clash":           {schema: &providers.Block{Attributes: strA, BlockTypes: map[string]*providers.NestedBlock{"a": {Nesting: providers.NestingList}}}, want: "a: is declared both"},
		"block no mode":   {schema: block(&providers.NestedBlock{}), want: "b: unknown nesting mode 0"},
		"single bounds":   {schema: block(&providers.NestedBlock{Nesting: providers.NestingSingle, MinItems: 0, MaxItems: 1}), want: "both be 0 or both be 1"},
		"group bounds":    {schema: block(&providers.NestedBlock{Nesting: providers.NestingGroup, MinItems: 1}), want: "must be 0 for groups"},
		"list bounds":     {schema: block(&providers.NestedBlock{Nesting: providers.NestingList, MinItems: 2, MaxItems: 1}), want: "must not be greater"},
		"negative":        {schema: block(&providers.NestedBlock{Nesting: providers.NestingList, MinItems: -1}), want: "must not be negative"},
		"set dynamic":     {schema: oneBlock(providers.NestingSet, "b", dynA), want: "b: blocks in a set"},
		"set write-only":  {schema: oneBlock(providers.NestingSet, "b", map[string]*providers.Attribute{"a": {Type: cty.String, Optional: true, WriteOnly: true}}), want: "b: blocks in a set may not hold write-only"},
		"nested set wo":   {schema: nestedAttr(providers.NestingSet, map[string]*providers.Attribute{"a": {Type: cty.String, Optional: true, WriteOnly: true}}), want: "n: a set may not hold write-only"},
		"list write-only": {schema: oneBlock(providers.NestingList, "b", map[string]*providers.Attribute{"a": {Type: cty.String, Optional: true, WriteOnly: true}})},
		"set bad inside":  {schema: oneBlock(providers.NestingSet, "b", map[string]*providers.Attribute{"a": nil}), want: "b.a: attribute schema is missing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.schema.InternalValidate()
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// Values of blocks that hold dynamic attributes have no list or map type, while
// those of nested attributes do.
func TestImpliedType(t *testing.T) {
	t.Parallel()
	dynObj := cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType})
	tests := map[string]struct {
		schema *providers.Block
		want   cty.Type
	}{
		"block list":            {schema: oneBlock(providers.NestingList, "n", strA), want: cty.List(objA)},
		"block list dynamic":    {schema: oneBlock(providers.NestingList, "n", dynA), want: cty.DynamicPseudoType},
		"block map dynamic":     {schema: oneBlock(providers.NestingMap, "n", dynA), want: cty.DynamicPseudoType},
		"block single dynamic":  {schema: oneBlock(providers.NestingSingle, "n", dynA), want: dynObj},
		"nested list dynamic":   {schema: nestedAttr(providers.NestingList, dynA), want: cty.List(dynObj)},
		"nested map dynamic":    {schema: nestedAttr(providers.NestingMap, dynA), want: cty.Map(dynObj)},
		"nested single dynamic": {schema: nestedAttr(providers.NestingSingle, dynA), want: dynObj},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.schema.ImpliedType().AttributeType("n"); !got.Equals(test.want) {
				t.Errorf("got %#v, want %#v", got, test.want)
			}
		})
	}
}
