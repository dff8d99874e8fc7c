package lang

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/towline/terraform-provider-towline/internal/bounds"
)

// FuzzExpression evaluates any expression over values of every kind: there is a
// value or an error. What is sensitive or ephemeral stays so, unless a function
// was asked to let it out.
func FuzzExpression(f *testing.F) {
	examples, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		f.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(examples)) {
		if n++; n%7 != 0 { // all of them take longer than what is made of them
			continue
		}
		if line = strings.TrimSpace(strings.TrimPrefix(line, "! ")); line != "" && line[0] != '#' {
			f.Add(line)
		}
	}
	for _, text := range []string{"local.secret", `"x${local.ephemeral}"`, "[for k, v in local.map : k => v...]", "local.unknown[*].a", "terraform.applying ? 1 : local.secret"} {
		f.Add(text)
	}
	hclCtx := &hcl.EvalContext{Functions: withoutFiles(Functions(FunctionOptions{BaseDir: ".", PlanTime: time.Unix(1e9, 0), Pure: true})), Variables: fuzzValues()}
	f.Fuzz(func(t *testing.T, text string) {
		src := []byte(text)
		if bounds.Expression(src, "fuzz").HasErrors() {
			return
		}
		expr, hclDiags := hclsyntax.ParseExpression(src, "fuzz", hcl.InitialPos)
		if hclDiags.HasErrors() {
			return
		}
		refs, _ := ExprRefs(expr) // a reference that means nothing is an error, and no more
		val, hclDiags := expr.Value(hclCtx)
		if hclDiags.HasErrors() {
			return
		}
		for _, r := range refs {
			if r.Kind == RefLocal && r.Name == "only_ephemeral" && text == "local.only_ephemeral" && !ContainsEphemeral(val) {
				t.Errorf("%s gives %#v, of which nothing is ephemeral", text, val)
			}
		}
		if null := ephemeralAsNull(val); ContainsEphemeral(null) {
			t.Errorf("ephemeralasnull leaves %#v", null)
		}
		unmarked, paths := UnmarkPaths(val)
		if unmarked.ContainsMarked() || (len(paths.Sensitive) > 0) != ContainsSensitive(val) || (len(paths.Ephemeral) > 0) != ContainsEphemeral(val) {
			t.Errorf("the marks of %#v are taken for %+v", val, paths)
		}
	})
}

// withoutFiles leaves out functions that look at files: what there is on a machine
// is no input of a test.
func withoutFiles(fns map[string]function.Function) map[string]function.Function {
	out := map[string]function.Function{}
	for name, fn := range fns {
		if !strings.Contains(name, "file") && !strings.Contains(name, "path") {
			out[name] = fn
		}
	}
	return out
}

func fuzzValues() map[string]cty.Value {
	secret := cty.StringVal("hush").Mark(Sensitive)
	ephemeral := cty.StringVal("gone").Mark(Ephemeral)
	unknown := cty.UnknownVal(cty.String)
	return map[string]cty.Value{
		"terraform": cty.ObjectVal(map[string]cty.Value{"workspace": cty.StringVal("default"), "applying": cty.False.Mark(Ephemeral)}),
		"local": cty.ObjectVal(map[string]cty.Value{
			"secret": secret, "ephemeral": ephemeral, "only_ephemeral": ephemeral, "unknown": unknown, "unknowns": cty.UnknownVal(cty.List(cty.String)),
			"null": cty.NullVal(cty.String), "any": cty.DynamicVal, "sens": secret, "nulltext": cty.NullVal(cty.String), "nulllist": cty.NullVal(cty.DynamicPseudoType),
			"map":      cty.MapVal(map[string]cty.Value{"a": cty.StringVal("1"), "b": secret, "c": unknown}),
			"sensmap":  cty.ObjectVal(map[string]cty.Value{"plain": cty.StringVal("p"), "secret": secret}),
			"list":     cty.ListVal([]cty.Value{cty.StringVal("a"), ephemeral, unknown}),
			"set":      cty.SetVal([]cty.Value{cty.NumberIntVal(1), cty.UnknownVal(cty.Number)}).Mark(Sensitive),
			"tuple":    cty.TupleVal([]cty.Value{cty.True, secret, cty.NullVal(cty.DynamicPseudoType), cty.EmptyObjectVal}),
			"template": cty.StringVal("Hello, ${name}!"), "broken": cty.StringVal("Hello, ${name"),
		}),
	}
}
