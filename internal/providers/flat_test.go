package providers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

// TestFlatBodies: bodies without blocks are decoded as hcldec does, with and without mistakes, and refer to the same.
func TestFlatBodies(t *testing.T) {
	t.Parallel()
	schema := &providers.Block{
		Attributes: map[string]*providers.Attribute{
			"s": {Type: cty.String, Required: true}, "n": optional(cty.Number), "any": optional(cty.DynamicPseudoType),
			"l": optional(cty.List(cty.String)), "c": {Type: cty.String, Computed: true},
			"o": {Optional: true, NestedType: &providers.Object{Nesting: providers.NestingList, Attributes: strA}},
		},
		BlockTypes: map[string]*providers.NestedBlock{
			"one": {Nesting: providers.NestingSingle, Block: providers.Block{Attributes: dynA}},
			"all": {Nesting: providers.NestingList, Block: providers.Block{Attributes: strA}},
			"grp": {Nesting: providers.NestingGroup, Block: providers.Block{Attributes: strA}},
		},
	}
	must := oneBlock(providers.NestingList, "b", strA)
	must.BlockTypes["b"].MinItems = 1
	hclCtx := &hcl.EvalContext{Variables: map[string]cty.Value{"x": cty.StringVal("7"), "u": cty.DynamicVal, "m": cty.StringVal("p").Mark("secret")}}
	for name, test := range map[string]struct {
		schema *providers.Block
		src    string
	}{
		"plain":            {schema, "s = 1\nn = \"2\"\nl = [true]\nany = { a = x }\n"},
		"unknown, marked":  {schema, "s = m\nn = u\nany = [u, m]\nl = u\n"},
		"null":             {schema, "s = null\nl = null\nany = null\n"},
		"nested attribute": {schema, "s = \"a\"\no = [{ a = x }, {}]\n"},
		"required missing": {schema, "n = 1\n"},
		"of another type":  {schema, "s = [1]\nn = \"no\"\n"},
		"not in schema":    {schema, "s = 1\nwhat = x\n"},
		"not evaluable":    {schema, "s = nothing\n"},
		"meta arguments":   {schema, "count = 2\ns = x\n"},
		"a block":          {schema, "s = x\none {\n a = x\n}\n"},
		"blocks must be":   {must, ""},
		"as blocks":        {legacy, "rule = [{ a = x, sub = [] }]\n"},
		"as JSON":          {schema, `{"s": "${x}", "n": 1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, body, _ := parseBody(t, test.src).PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "count"}}})
			got, diags := test.schema.Decode(body, hclCtx)
			want, wantDiags := hcldec.Decode(providers.BlocksAsAttributes(body, test.schema), test.schema.DecoderSpec(), hclCtx)
			if problems(diags) != problems(wantDiags) {
				t.Errorf("got %v, want %v", diags, wantDiags)
			}
			if !diags.HasErrors() && !got.RawEquals(want) {
				t.Errorf("got %#v, want %#v", got, want)
			}
			refs := 0
			for _, traversal := range providers.BodyVariables(body, test.schema) {
				if traversal.RootName() != "count" {
					refs++
				}
			}
			if written := strings.Count(strings.ReplaceAll(test.src, "${x}", " x"), " x"); name != "not in schema" && refs < written {
				t.Errorf("refers to %d, wrote %d times x", refs, written)
			}
		})
	}
}

func problems(diags hcl.Diagnostics) string {
	var out []string
	for _, d := range diags {
		out = append(out, d.Error())
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func BenchmarkDecodeBody(b *testing.B) {
	schema := attrs(map[string]*providers.Attribute{"s": optional(cty.String), "n": optional(cty.Number), "any": optional(cty.DynamicPseudoType)})
	file, diags := hclsyntax.ParseConfig([]byte("s = x\nany = { a = x, b = [x, 1] }\n"), "x.tf", hcl.InitialPos)
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	hclCtx := &hcl.EvalContext{Variables: map[string]cty.Value{"x": cty.StringVal("7")}}
	b.ReportAllocs()
	for b.Loop() {
		if _, diags := schema.Decode(file.Body, hclCtx); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
}
