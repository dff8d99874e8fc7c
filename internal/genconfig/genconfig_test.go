package genconfig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/genconfig"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

func TestResource(t *testing.T) {
	t.Parallel()
	str := func(s string) cty.Value { return cty.StringVal(s) }
	optional := &providers.Attribute{Type: cty.String, Optional: true}
	inner := map[string]*providers.Attribute{"a": optional, "b": {Type: cty.Number, Computed: true}}
	innerVal := func(a string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"a": str(a), "b": cty.NumberIntVal(1)})
	}
	nested := func(mode providers.NestingMode) *providers.Attribute {
		return &providers.Attribute{Optional: true, NestedType: &providers.Object{Nesting: mode, Attributes: inner}}
	}
	block := func(mode providers.NestingMode) *providers.NestedBlock {
		return &providers.NestedBlock{Nesting: mode, Block: providers.Block{Attributes: inner}}
	}
	deprecated := block(providers.NestingList)
	deprecated.Block.Deprecated = true
	schema := &providers.Block{
		Attributes: map[string]*providers.Attribute{
			"id": {Type: cty.String, Optional: true, Computed: true}, "size": {Type: cty.Number, Computed: true}, "old": {Type: cty.String, Optional: true, Deprecated: true}, "name": {Type: cty.String, Required: true}, "long_name": optional, "unset": optional,
			"legacy": optional, "json": optional, "tricky": optional,
			"secret": {Type: cty.String, Optional: true, Sensitive: true}, "wo": {Type: cty.String, Optional: true, WriteOnly: true},
			"list": {Type: cty.List(cty.String), Optional: true}, "map": {Type: cty.Map(cty.Number), Optional: true},
			"single": nested(providers.NestingSingle), "many": nested(providers.NestingList), "keyed": nested(providers.NestingMap), "none": nested(providers.NestingSet),
		},
		BlockTypes: map[string]*providers.NestedBlock{"one": block(providers.NestingSingle), "some": block(providers.NestingList), "by_key": block(providers.NestingMap), "absent": block(providers.NestingSingle), "old_block": deprecated},
	}
	val := cty.ObjectVal(map[string]cty.Value{
		"id": str("1"), "size": cty.NumberIntVal(3), "old": str("o"), "name": str("n"), "long_name": str("l"), "unset": cty.NullVal(cty.String), "legacy": str(""), "json": str(`{"a":[1,"x"]}`),
		"tricky": str("a ${b}\n\"c\""), "secret": str("hidden"), "wo": cty.NullVal(cty.String),
		"list": cty.ListVal([]cty.Value{str("x")}), "map": cty.MapVal(map[string]cty.Value{"k v": cty.NumberIntVal(2)}),
		"single": innerVal("s"), "many": cty.ListVal([]cty.Value{innerVal("m")}), "keyed": cty.MapVal(map[string]cty.Value{"a b": innerVal("k")}),
		"none": cty.NullVal(cty.Set(innerVal("").Type())),
		"one":  innerVal("o"), "some": cty.ListVal([]cty.Value{innerVal("1"), innerVal("2")}), "by_key": cty.MapVal(map[string]cty.Value{"x": innerVal("y")}),
		"absent": cty.NullVal(innerVal("").Type()), "old_block": cty.ListVal([]cty.Value{innerVal("1")}),
	})
	want := `resource "fake_thing" "r" {
  provider = other.west
  json = jsonencode({
    a = [1, "x"]
  })
  keyed = {
    "a b" = {
      a = "k"
    }
  }
  legacy    = null
  list      = ["x"]
  long_name = "l"
  many = [
    {
      a = "m"
    },
  ]
  map = {
    "k v" = 2
  }
  name   = "n"
  none   = null
  secret = null # sensitive
  single = {
    a = "s"
  }
  tricky = "a $${b}\n\"c\""
  unset  = null
  wo     = null # write-only
  by_key "x" {
    a = "y"
  }
  one {
    a = "o"
  }
  some {
    a = "1"
  }
  some {
    a = "2"
  }
}`
	got := genconfig.Resource(addrs.Resource{Mode: addrs.Managed, Type: "fake_thing", Name: "r"}, addrs.LocalProviderConfig{LocalName: "other", Alias: "west"}, schema, val)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration differs (-want +got):\n%s", diff)
	}
}
