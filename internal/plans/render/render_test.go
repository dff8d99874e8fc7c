package render_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/render"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// Texts are compared with terraform's in package parity. Here is what can be seen
// without it.

var provider = addrs.ProviderConfig{Provider: addrs.BuiltInProvider}

func schemas() render.Schemas {
	block := &providers.Block{Attributes: map[string]*providers.Attribute{
		"id":    {Type: cty.String, Computed: true},
		"input": {Type: cty.String, Optional: true},
		"note":  {Type: cty.String, Optional: true},
	}}
	return render.SchemasOf(map[addrs.Provider]*providers.Schema{
		addrs.BuiltInProvider: {ResourceTypes: providers.SchemaMap{"terraform_data": {Block: block}}},
	})
}

func instance(t *testing.T, text string) addrs.ResourceInstance {
	t.Helper()
	addr, diags := addrs.ParseResourceInstance(text)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return addr
}

func object(id, input cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": id, "input": input, "note": cty.StringVal("same")})
}

// replaced is a plan with one object to be replaced.
func replaced(t *testing.T) *plans.Plan {
	t.Helper()
	addr := instance(t, "terraform_data.a")
	return &plans.Plan{
		Mode: plans.NormalMode, Prior: states.New(),
		Changes: []*plans.Change{{
			Addr: addr, PrevAddr: addr, Provider: provider, Action: plans.DeleteThenCreate, Reason: plans.ReplaceBecauseCannotUpdate,
			Before: object(cty.StringVal("x"), cty.StringVal("old")), After: object(cty.UnknownVal(cty.String), cty.StringVal("new")),
			RequiredReplace: []cty.Path{cty.GetAttrPath("input")},
		}},
		Outputs: []*plans.OutputChange{{Name: "o", Action: plans.Create, Before: cty.NullVal(cty.DynamicPseudoType), After: cty.StringVal("x")}},
	}
}

func planText(t *testing.T, plan *plans.Plan, opts render.Options) string {
	t.Helper()
	var out strings.Builder
	if err := render.Plan(&out, plan, schemas(), opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestReplacement(t *testing.T) {
	t.Parallel()
	want := `
  # terraform_data.a must be replaced
-/+ resource "terraform_data" "a" {
      ~ id    = "x" -> (known after apply)
      ~ input = "old" -> "new" # forces replacement
        # (1 unchanged attribute hidden)
    }

Plan: 1 to add, 0 to change, 1 to destroy.

Changes to Outputs:
  + o = "x"
`
	_, got, _ := strings.Cut(planText(t, replaced(t), render.Options{}), "do the following:\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text differs (-want +got):\n%s", diff)
	}
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colours must add nothing but colours, and must be there.
func TestColorsOnlyAddColors(t *testing.T) {
	t.Parallel()
	plan := replaced(t)
	plain, coloured := planText(t, plan, render.Options{}), planText(t, plan, render.Options{Color: true})
	if got := ansi.ReplaceAllString(coloured, ""); got != plain {
		t.Errorf("without its colours, the coloured text is\n%s\nwant\n%s", got, plain)
	}
	for _, want := range []string{"\x1b[31mreplaced\x1b[0m", "\x1b[32m+\x1b[0m", "\x1b[90m# (1 unchanged attribute hidden)\x1b[0m"} {
		if !strings.Contains(coloured, want) {
			t.Errorf("there is no %q", want)
		}
	}
}

// Modules are ordered by text. Those below one without objects of its own follow
// each other without a blank line, as terraform has it.
func TestStateOfModules(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		objects []string
		want    string
	}{
		"the root has objects":    {[]string{"terraform_data.a[2]", "terraform_data.a[10]", "module.m[2].terraform_data.b", "module.m[10].terraform_data.b"}, "a[2] | a[10] || m[10] || m[2]"},
		"the root has none":       {[]string{"module.m[2].terraform_data.b", "module.m[10].terraform_data.b"}, "m[10] m[2]"},
		"two objects in a module": {[]string{"module.m.terraform_data.b[0]", "module.m.terraform_data.b[1]"}, "m | m"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := states.New()
			for _, addr := range test.objects {
				state.SetObject(instance(t, addr), provider, &states.Object{AttrsJSON: []byte(`{"id":"x","input":null,"note":null}`)})
			}
			var out strings.Builder
			if err := render.State(&out, state, schemas(), render.Options{}); err != nil {
				t.Fatal(err)
			}
			if got := outline(out.String()); got != test.want {
				t.Errorf("got %s, want %s in\n%s", got, test.want, out.String())
			}
		})
	}
}

// outline names the objects of a text, with a bar for each blank line between them.
func outline(text string) string {
	name := regexp.MustCompile(`\A# (?:module\.)?(?:terraform_data\.)?(m?a?(?:\[\d+\])?)`)
	var out []string
	for line := range strings.Lines(text) {
		if found := name.FindStringSubmatch(line); found != nil {
			out = append(out, found[1])
		} else if line == "\n" {
			out = append(out, "|")
		}
	}
	return strings.ReplaceAll(strings.Join(out, " "), "| |", "||")
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	state := states.New()
	state.SetObject(instance(t, "terraform_data.a"), provider, &states.Object{
		AttrsJSON: []byte(`{"id":"x","input":"hush","note":null}`), Sensitive: []cty.Path{cty.GetAttrPath("input")},
	})
	state.Outputs = map[string]*states.Output{"o": {Value: cty.StringVal("hush"), Sensitive: true}}
	var shown, outputs strings.Builder
	if err := render.State(&shown, state, schemas(), render.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := render.Outputs(&outputs, state.Outputs, render.Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(shown.String(), "hush") || !strings.Contains(shown.String(), "input = (sensitive value)") {
		t.Errorf("the state is shown as\n%s", shown.String())
	}
	if outputs.String() != "o = <sensitive>\n" {
		t.Errorf("outputs are shown as\n%s", outputs.String())
	}
}
