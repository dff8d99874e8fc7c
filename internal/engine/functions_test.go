package engine_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/plans/planjson"
)

// TestProviderFunctionsAsTerraform compares what calls of provider functions give,
// and what is said of wrong ones.
func TestProviderFunctionsAsTerraform(t *testing.T) {
	t.Parallel()
	const declarations = "resource \"terraform_data\" \"u\" {}\nvariable \"s\" {\n  sensitive = true\n  default   = \"hush\"\n}\n" + ephemeralVariable
	tests := map[string]string{
		"call":                    `provider::fault::shout("hi")`,
		"more arguments":          `provider::fault::shout("a", "b", null)`,
		"inside":                  `[for w in ["a", "b"] : upper(provider::fault::shout(w))]`,
		"unknown":                 `provider::fault::shout(terraform_data.u.id)`,
		"unknown more":            `provider::fault::shout("a", terraform_data.u.id)`,
		"unknown of any type":     `provider::fault::shout(terraform_data.u.output)`,
		"null":                    `provider::fault::shout(null)`,
		"refused argument":        `provider::fault::shout("fail")`,
		"wrong result":            `provider::fault::shout("number")`,
		"too few":                 `provider::fault::shout()`,
		"wrong type":              `provider::fault::shout([])`,
		"converted":               `provider::fault::shout(true)`,
		"sensitive":               `provider::fault::shout(var.s)`,
		"sensitive let out":       `nonsensitive(provider::fault::shout(var.s))`,
		"ephemeral":               `provider::fault::shout(var.e)`,
		"caught":                  `try(provider::fault::shout("fail"), "x")`,
		"caught that is not here": `can(provider::fault::nope("a"))`,
		"no such function":        `provider::fault::nope("hi")`,
		"no such provider":        `provider::nope::shout("hi")`,
		"built-in":                `provider::terraform::encode_expr("hi")`,
		"no provider":             `provider::shout("hi")`,
		"too long":                `provider::fault::shout::x("hi")`,
		"no such namespace":       `other::shout("hi")`,
		"no such core function":   `core::shout("hi")`,
	}
	for name, expr := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := oracletest.NewFault(t)
			b.Write(map[string]string{
				"main.tf": oracletest.RequiredProviders + declarations + "output \"o\" {\n  value = " + expr + "\n}\n",
			})
			want := b.Problems("plan", "-input=false", "-out=plan.bin")
			planned := b.Plan(engine.PlanOptions{})
			if diff := cmp.Diff(want, oracletest.Summaries(planned.Diags)); diff != "" {
				t.Errorf("the plan's problems differ (-terraform +towline):\n%s", diff)
			}
			if diff := cmp.Diff(b.Problems("validate"), b.ValidateProblems()); diff != "" {
				t.Errorf("the problems of the validation differ (-terraform +towline):\n%s", diff)
			}
			if len(want) > 0 {
				return
			}
			got, err := planjson.Plan(planned.Plan, planned.Config, planned.Schemas)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(outputChange(t, b.Terraform("show", "-json", "plan.bin")), outputChange(t, string(got))); diff != "" {
				t.Errorf("the output differs (-terraform +towline):\n%s", diff)
			}
		})
	}
}

// A function is known in each module by that module's name of the provider.
func TestProviderFunctionsInModules(t *testing.T) {
	t.Parallel()
	b := oracletest.NewFault(t)
	b.Write(map[string]string{
		"main.tf": "terraform {\n  required_providers {\n    other = { source = \"towline/fault\" }\n  }\n}\nmodule \"m\" {\n  source = \"./m\"\n}\noutput \"o\" {\n  value = \"${module.m.o} ${provider::other::shout(\"root\")}\"\n}\n",
		"m/m.tf":  oracletest.RequiredProviders + "output \"o\" {\n  value = provider::fault::shout(\"child\")\n}\n",
	})
	b.Terraform("get")
	if problems := b.Problems("plan", "-input=false", "-out=plan.bin"); len(problems) > 0 {
		t.Fatal(problems)
	}
	planned := b.Plan(engine.PlanOptions{})
	if planned.Diags.HasErrors() {
		t.Fatal(planned.Diags.Err())
	}
	got, err := planjson.Plan(planned.Plan, planned.Config, planned.Schemas)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outputChange(t, b.Terraform("show", "-json", "plan.bin")), outputChange(t, string(got))); diff != "" {
		t.Errorf("the output differs (-terraform +towline):\n%s", diff)
	}
}

// TestImpureProviderFunctionsAsTerraform calls a function that gives something else each time.
func TestImpureProviderFunctionsAsTerraform(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"twice in a plan":    "locals {\n  a = provider::fault::shout(\"time\")\n  b = provider::fault::shout(\"time\")\n}\noutput \"o\" {\n  value = local.a == local.b\n}\n",
		"once in each phase": "resource \"terraform_data\" \"a\" {\n  input = provider::fault::shout(\"time\")\n}\n",
		"in nothing kept":    "locals {\n  a = provider::fault::shout(\"time\")\n}\noutput \"o\" {\n  value = 1\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := oracletest.NewFault(t)
			b.Write(map[string]string{"main.tf": oracletest.RequiredProviders + config})
			got, _ := b.ApplyProblems(engine.PlanOptions{})
			if diff := cmp.Diff(b.Problems("apply", "-input=false", "-auto-approve"), got); diff != "" {
				t.Errorf("problems differ (-terraform +towline):\n%s", diff)
			}
		})
	}
}

// outputChange is the change of the output o in a plan's document.
func outputChange(t *testing.T, document string) any {
	t.Helper()
	var doc struct {
		OutputChanges map[string]any `json:"output_changes"`
	}
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.OutputChanges["o"]
}

// In the console a function can be called that no file of the module calls.
func TestProviderFunctionsInTheConsole(t *testing.T) {
	t.Parallel()
	b := oracletest.NewFault(t)
	b.Write(map[string]string{"main.tf": oracletest.RequiredProviders})
	eng := engine.New(engine.Options{Providers: b.Providers})
	t.Cleanup(func() { _ = eng.Close() })
	console, diags := eng.Console(t.Context(), b.Config(), b.State(), nil)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	got, diags := console.Eval(t.Context(), `provider::fault::shout("hi")`)
	if diags.HasErrors() || !got.RawEquals(cty.StringVal("HI")) {
		t.Errorf("got %#v, %v", got, diags.Err())
	}
	_, diags = console.Eval(t.Context(), `provider::fault::nope("hi")`)
	if want := []string{"error: Unknown provider function"}; !slices.Equal(oracletest.Summaries(diags), want) {
		t.Errorf("got %v, want %q", diags, want)
	}
}
