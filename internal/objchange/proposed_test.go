package objchange_test

import (
	"fmt"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

type attrMap = map[string]*providers.Attribute

type vals = map[string]cty.Value

var (
	opt      = &providers.Attribute{Type: cty.String, Optional: true}
	req      = &providers.Attribute{Type: cty.String, Required: true}
	computed = &providers.Attribute{Type: cty.String, Computed: true}
	optComp  = &providers.Attribute{Type: cty.String, Optional: true, Computed: true}
	null     = cty.NullVal(cty.String)
	unknown  = cty.UnknownVal(cty.String)
	obj      = cty.ObjectVal
)

func s(v string) cty.Value { return cty.StringVal(v) }

func list(v ...cty.Value) cty.Value { return cty.ListVal(v) }

func set(v ...cty.Value) cty.Value { return cty.SetVal(v) }

func tuple(v ...cty.Value) cty.Value { return cty.TupleVal(v) }

// named is an object with an attribute that identifies it and a computed one.
func named(name, id cty.Value) cty.Value { return obj(vals{"name": name, "id": id}) }

func blocksOf(nesting providers.NestingMode, attrs attrMap) *providers.Block {
	return &providers.Block{BlockTypes: map[string]*providers.NestedBlock{"x": {Nesting: nesting, Block: providers.Block{Attributes: attrs}}}}
}

func nestedOf(nesting providers.NestingMode, mode *providers.Attribute, attrs attrMap) *providers.Block {
	return &providers.Block{Attributes: attrMap{"x": {
		Optional: mode.Optional, Computed: mode.Computed, Required: mode.Required,
		NestedType: &providers.Object{Nesting: nesting, Attributes: attrs},
	}}}
}

func x(v cty.Value) cty.Value { return obj(vals{"x": v}) }

func TestProposedNew(t *testing.T) {
	t.Parallel()
	nameID := attrMap{"name": opt, "id": optComp}
	nameIDType := named(s(""), s("")).Type()
	dynamic := attrMap{"name": {Type: cty.DynamicPseudoType, Optional: true}, "id": optComp}
	flat := &providers.Block{Attributes: attrMap{"o": opt, "oc": optComp, "c": computed}}
	nestedRemovable := nestedOf(providers.NestingSingle, optComp, attrMap{"name": opt, "id": computed})
	nestedComputed := nestedOf(providers.NestingSingle, optComp, attrMap{"id": computed})
	tests := map[string]struct {
		schema              *providers.Block
		prior, config, want cty.Value
	}{
		"both null": {flat, cty.NullVal(flat.ImpliedType()), cty.NullVal(flat.ImpliedType()), cty.NullVal(flat.ImpliedType())},
		"create": {
			flat, cty.NullVal(flat.ImpliedType()), obj(vals{"o": s("a"), "oc": null, "c": null}), obj(vals{"o": s("a"), "oc": null, "c": null}),
		},
		"computed keeps prior, optional does not": {
			flat, obj(vals{"o": s("p"), "oc": s("p"), "c": s("p")}), obj(vals{"o": null, "oc": null, "c": null}), obj(vals{"o": null, "oc": s("p"), "c": s("p")}),
		},
		"unknown config wins": {
			flat, obj(vals{"o": s("p"), "oc": s("p"), "c": s("p")}), obj(vals{"o": unknown, "oc": unknown, "c": null}), obj(vals{"o": unknown, "oc": unknown, "c": s("p")}),
		},
		"single block removed": {blocksOf(providers.NestingSingle, nameID), x(named(s("n"), s("1"))), x(cty.NullVal(nameIDType)), x(cty.NullVal(nameIDType))},
		"single block":         {blocksOf(providers.NestingSingle, nameID), x(named(s("n"), s("1"))), x(named(s("m"), null)), x(named(s("m"), s("1")))},
		"group block":          {blocksOf(providers.NestingGroup, nameID), x(named(s("n"), s("1"))), x(named(null, null)), x(named(null, s("1")))},
		"list by index": {
			blocksOf(providers.NestingList, nameID), x(list(named(s("a"), s("1")), named(s("b"), s("2")))),
			x(list(named(s("b"), null), named(s("a"), null), named(s("c"), null))),
			x(list(named(s("b"), s("1")), named(s("a"), s("2")), named(s("c"), null))),
		},
		"list of dynamic blocks": {
			blocksOf(providers.NestingList, dynamic), x(tuple(named(s("a"), s("1")), named(cty.True, s("2")))),
			x(tuple(named(cty.Zero, null))), x(tuple(named(cty.Zero, s("1")))),
		},
		"map by key": {
			blocksOf(providers.NestingMap, nameID), x(cty.MapVal(vals{"k": named(s("a"), s("1")), "gone": named(s("b"), s("2"))})),
			x(cty.MapVal(vals{"k": named(s("b"), null), "new": named(s("a"), null)})),
			x(cty.MapVal(vals{"k": named(s("b"), s("1")), "new": named(s("a"), null)})),
		},
		"map of dynamic blocks": {
			blocksOf(providers.NestingMap, dynamic), x(obj(vals{"k": named(s("a"), s("1"))})),
			x(obj(vals{"k": named(cty.Zero, null), "new": named(cty.True, null)})), x(obj(vals{"k": named(cty.Zero, s("1")), "new": named(cty.True, null)})),
		},
		"set by content": {
			blocksOf(providers.NestingSet, nameID), x(set(named(s("a"), s("1")), named(s("b"), s("2")))),
			x(set(named(s("b"), null), named(s("c"), null))), x(set(named(s("b"), s("2")), named(s("c"), null))),
		},
		"set element taken once": {
			blocksOf(providers.NestingSet, nameID), x(set(named(s("a"), s("1")))),
			x(set(named(s("a"), null), named(s("a"), s("9")))), x(set(named(s("a"), s("1")), named(s("a"), s("9")))),
		},
		"unknown blocks stay": {
			blocksOf(providers.NestingList, nameID), x(list(named(s("a"), s("1")))),
			x(cty.UnknownVal(cty.List(nameIDType))), x(cty.UnknownVal(cty.List(nameIDType))),
		},
		"computed nested object keeps prior": {nestedComputed, x(obj(vals{"id": s("1")})), x(cty.NullVal(cty.Object(map[string]cty.Type{"id": cty.String}))), x(obj(vals{"id": s("1")}))},
		"nested object set before is removed": {
			nestedRemovable, x(named(s("n"), s("1"))), x(cty.NullVal(nameIDType)), x(cty.NullVal(nameIDType)),
		},
		"nested object never set keeps prior": {
			nestedRemovable, x(named(null, s("1"))), x(cty.NullVal(nameIDType)), x(named(null, s("1"))),
		},
		"nested set keeps computed of unchanged": {
			nestedOf(providers.NestingSet, opt, nameID), x(set(named(s("a"), s("1")), named(s("b"), s("2")))),
			x(set(named(s("a"), null))), x(set(named(s("a"), s("1")))),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := objchange.ProposedNew(test.schema, test.prior, test.config); !got.RawEquals(test.want) {
				t.Errorf("got  %#v\nwant %#v", got, test.want)
			}
		})
	}
}

func TestPlannedUnknownObject(t *testing.T) {
	t.Parallel()
	nameID := attrMap{"name": req, "id": computed}
	for name, nesting := range map[string]providers.NestingMode{
		"list": providers.NestingList, "set": providers.NestingSet, "map": providers.NestingMap,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := blocksOf(nesting, nameID)
			schema.Attributes = attrMap{"c": computed, "o": opt}
			collect := func(v cty.Value) cty.Value {
				switch nesting {
				case providers.NestingList:
					return list(v)
				case providers.NestingSet:
					return set(v)
				default:
					return cty.MapVal(vals{"k": v})
				}
			}
			config := obj(vals{"c": null, "o": null, "x": collect(named(s("n"), null))})
			want := obj(vals{"c": unknown, "o": null, "x": collect(named(s("n"), unknown))})
			if got := objchange.PlannedUnknownObject(schema, config); !got.RawEquals(want) {
				t.Errorf("got  %#v\nwant %#v", got, want)
			}
		})
	}
}

func TestNormalizeObjectFromLegacySDK(t *testing.T) {
	t.Parallel()
	nameID := attrMap{"name": opt, "id": optComp}
	ty := named(s(""), s("")).Type()
	tests := map[string]struct {
		schema   *providers.Block
		in, want cty.Value
	}{
		"nil":           {blocksOf(providers.NestingList, nameID), cty.NilVal, cty.NullVal(blocksOf(providers.NestingList, nameID).ImpliedType())},
		"list null":     {blocksOf(providers.NestingList, nameID), x(cty.NullVal(cty.List(ty))), x(cty.ListValEmpty(ty))},
		"set null":      {blocksOf(providers.NestingSet, nameID), x(cty.NullVal(cty.Set(ty))), x(cty.SetValEmpty(ty))},
		"group null":    {blocksOf(providers.NestingGroup, nameID), x(cty.NullVal(ty)), x(named(null, null))},
		"single null":   {blocksOf(providers.NestingSingle, nameID), x(cty.NullVal(ty)), x(cty.NullVal(ty))},
		"list unknown":  {blocksOf(providers.NestingList, nameID), x(cty.UnknownVal(cty.List(ty))), x(list(named(unknown, unknown)))},
		"set unknown":   {blocksOf(providers.NestingSet, nameID), x(cty.UnknownVal(cty.Set(ty))), x(set(named(unknown, unknown)))},
		"single unkown": {blocksOf(providers.NestingSingle, nameID), x(cty.UnknownVal(ty)), x(named(unknown, unknown))},
		"marks stay":    {blocksOf(providers.NestingSet, nameID), x(cty.NullVal(cty.Set(ty)).Mark("m")), x(cty.SetValEmpty(ty).Mark("m"))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := objchange.NormalizeObjectFromLegacySDK(test.in, test.schema); !got.RawEquals(test.want) {
				t.Errorf("got  %#v\nwant %#v", got, test.want)
			}
		})
	}
}

// A set whose elements differ in one configured attribute must not cost the
// square of its size.
func BenchmarkProposedNewSet(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			schema := blocksOf(providers.NestingSet, attrMap{"name": opt, "id": computed})
			var prior, config []cty.Value
			for i := range n {
				prior = append(prior, named(s(fmt.Sprint(i)), s("id")))
				config = append(config, named(s(fmt.Sprint(n-i)), null))
			}
			p, c := x(set(prior...)), x(set(config...))
			for b.Loop() {
				objchange.ProposedNew(schema, p, c)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
		})
	}
}
