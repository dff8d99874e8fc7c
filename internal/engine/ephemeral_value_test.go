package engine_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

const ephemeralVariable = "variable \"e\" {\n  ephemeral = true\n  default   = \"x\"\n}\n"

// inResource is a resource with an argument or a block.
func inResource(body string) string {
	return "resource \"terraform_data\" \"a\" {\n  " + body + "\n}\n"
}

// calling calls the module m with an argument.
func calling(argument string) string {
	return "module \"m\" {\n  source = \"./m\"\n  " + argument + "\n}\n"
}

func condition(kind, condition, message string) string {
	return kind + " {\n    condition     = " + condition + "\n    error_message = " + message + "\n  }"
}

// TestEphemeralValuesAsTerraform compares where ephemeral values may be used.
func TestEphemeralValuesAsTerraform(t *testing.T) {
	t.Parallel()
	pre := func(cond, message string) string {
		return inResource("lifecycle {\n  " + condition("precondition", cond, message) + "\n  }")
	}
	tests := map[string]string{
		"count":                  inResource(`count = var.e == "x" ? 1 : 0`),
		"for_each":               inResource(`for_each = toset([var.e])`),
		"for_each with values":   inResource(`for_each = { a = var.e }`),
		"attribute":              inResource(`input = var.e`),
		"inside an attribute":    inResource(`input = { x = [var.e], y = var.e }`),
		"two attributes":         inResource("input = var.e\n  triggers_replace = var.e"),
		"unused branch":          inResource(`input = true ? "a" : var.e`),
		"through a local":        "locals {\n  a = \"${var.e}y\"\n}\n" + inResource(`input = local.a`),
		"local":                  "locals {\n  a = \"${var.e}y\"\n}\n",
		"output":                 "output \"a\" {\n  value = var.e\n}\n",
		"inside an output":       "output \"a\" {\n  value = { a = var.e }\n}\n",
		"ephemeral root output":  "output \"a\" {\n  value     = var.e\n  ephemeral = true\n}\n",
		"function of it":         "output \"a\" {\n  value = length(var.e)\n}\n",
		"ephemeralasnull":        "output \"a\" {\n  value = ephemeralasnull({ a = var.e, b = 1 })\n}\n",
		"null that is sensitive": "output \"a\" {\n  value = ephemeralasnull(sensitive(var.e))\n}\n",
		"applying":               "output \"a\" {\n  value = terraform.applying\n}\n",
		"each of applying":       inResource(`for_each = terraform.applying ? toset([]) : toset(["a"])`),
		"precondition":           pre(`var.e == "y"`, `"no"`),
		"message":                pre(`var.e == "y"`, `"no ${var.e}"`),
		"message of what holds":  pre(`var.e == "x"`, `"no ${var.e}"`),
		"output precondition":    "output \"a\" {\n  value = 1\n  " + condition("precondition", `var.e == "y"`, `"no ${var.e}"`) + "\n}\n",
		"check":                  "check \"a\" {\n  " + condition("assert", `var.e == "y"`, `"no ${var.e}"`) + "\n}\n",
		"validation":             "variable \"v\" {\n  ephemeral = true\n  default = 1\n  " + condition("validation", "var.v == 2", `"no ${var.v}"`) + "\n}\n",
		"validation that holds":  "variable \"v\" {\n  ephemeral = true\n  default = 1\n  " + condition("validation", "var.v == 1", `"no ${var.v}"`) + "\n}\n",
		"sensitive message":      "variable \"s\" {\n  sensitive = true\n  default = 1\n}\n" + pre("var.s == 2", `"no ${var.s}"`),
		"depends_on":             inResource(`depends_on = [var.e]`),
		"module takes none":      calling(`v = var.e`),
		"module takes it inside": calling(`v = { a = var.e }`),
		"module takes it":        calling(`w = var.e`),
		"module count":           calling(`count = var.e == "x" ? 1 : 0`),
		"module output":          calling(`w = var.e`) + "output \"a\" {\n  value = module.m.o\n}\n",
		"module output as null":  calling(`w = var.e`) + "output \"a\" {\n  value = ephemeralasnull(module.m.o)\n}\n",
		"other module output":    calling(`w = var.e`) + "output \"a\" {\n  value = module.m.p\n}\n",
		"output not ephemeral":   "module \"n\" {\n  source = \"./n\"\n}\n",
		"output in part":         "module \"k\" {\n  source = \"./k\"\n  v = var.e\n}\n",
	}
	for name, config := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := oracletest.New(t)
			b.Write(map[string]string{
				"main.tf": ephemeralVariable + config,
				"m/m.tf":  "variable \"v\" {\n  default = 1\n}\nvariable \"w\" {\n  ephemeral = true\n  default = 1\n}\noutput \"o\" {\n  value     = var.w\n  ephemeral = true\n}\noutput \"p\" {\n  value = 1\n}\n",
				"n/n.tf":  "output \"o\" {\n  value     = 1\n  ephemeral = true\n}\n",
				"k/k.tf":  "variable \"v\" {\n  ephemeral = true\n}\noutput \"o\" {\n  value     = { a = var.v, b = 1 }\n  ephemeral = true\n}\n",
			})
			b.Run("init", "-input=false")
			if diff := cmp.Diff(b.Problems("plan", "-input=false"), b.PlanProblems(engine.PlanOptions{})); diff != "" {
				t.Errorf("the plan's problems differ (-terraform +towline):\n%s", diff)
			}
			if diff := cmp.Diff(b.Problems("validate"), b.ValidateProblems()); diff != "" {
				t.Errorf("the problems of the validation differ (-terraform +towline):\n%s", diff)
			}
		})
	}
}

// TestEphemeralVariablesAreGivenAgain plans with an ephemeral variable, which the plan does not keep.
func TestEphemeralVariablesAreGivenAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write(map[string]string{"main.tf": "variable \"e\" {\n  ephemeral = true\n}\nvariable \"n\" {}\n" +
		inResource("input = var.n\n  lifecycle {\n  "+condition("precondition", `var.e == "token"`, `"no"`)+"\n  }")})
	given := map[string]cty.Value{"e": cty.StringVal("token"), "n": cty.StringVal("kept")}
	plan := b.mustPlan(engine.PlanOptions{Variables: given})
	if v := plan.Variables["e"]; !v.Ephemeral || v.Value != cty.NilVal {
		t.Errorf("the plan keeps %+v of an ephemeral variable", v)
	}
	apply := func(variables map[string]cty.Value) []string {
		b.variables = variables
		return oracletest.Summaries(b.applyPlan(plan))
	}
	if got := apply(nil); !slices.Equal(got, []string{"error: No value for required variable"}) {
		t.Errorf("without the variable the apply says %q", got)
	}
	if got := apply(map[string]cty.Value{"e": cty.StringVal("other")}); !slices.Equal(got, []string{"error: Resource precondition failed"}) {
		t.Errorf("with another value the apply says %q", got)
	}
	if got := apply(given); len(got) > 0 {
		t.Errorf("with the variable the apply says %q", got)
	}
}
