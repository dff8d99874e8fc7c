package planjson_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

// checkBlock is a check of the given condition, beside one that holds.
func checkBlock(condition string) string {
	return "check \"c\" {\n  assert {\n    condition = " + condition + "\n    error_message = \"it is ${terraform_data.a.input}\"\n  }\n  assert {\n    condition = terraform_data.a.input != 7\n    error_message = \"no\"\n  }\n}\n"
}

// TestCheckBlocksAsTerraform compares plans with assertions, and the state after them.
func TestCheckBlocksAsTerraform(t *testing.T) {
	t.Parallel()
	object := "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n"
	child := object + checkBlock("terraform_data.a.input == 1")
	calls := object + "module \"m\" {\n  source = \"./m\"\n  count = 2\n}\n"
	tests := map[string][]step{
		"holds":      {{config: object + checkBlock("terraform_data.a.input == 1")}, {config: object + checkBlock("terraform_data.a.input == 1")}},
		"fails":      {{config: object + checkBlock("terraform_data.a.input == 2")}, {config: object + checkBlock("terraform_data.a.input == 2")}},
		"unknown":    {{config: object + checkBlock("terraform_data.a.id != \"\"")}, {config: object + checkBlock("terraform_data.a.id != \"\"")}},
		"in modules": {{config: calls, files: map[string]string{"m/m.tf": child}}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, oracletest.New(t), steps)
		})
	}
	problems := map[string]string{
		"fails": checkBlock("terraform_data.a.input == 2"), "unknown": checkBlock("terraform_data.a.id != \"\""),
		"cannot be evaluated": checkBlock("terraform_data.a.input.x == 2"), "null": checkBlock("terraform_data.a.input == 1 ? null : true"),
	}
	for name, check := range problems {
		t.Run("problems if it "+name, func(t *testing.T) {
			t.Parallel()
			b := oracletest.New(t)
			b.Write(map[string]string{"main.tf": object + check})
			b.Init()
			stdout, stderr, _ := b.Run("plan", "-input=false", "-no-color")
			var got []string
			for _, d := range b.Plan(engine.PlanOptions{}).Diags {
				got = append(got, d.Severity.String()+": "+d.Summary)
			}
			if diff := cmp.Diff(lower(summaries.FindAllString(stdout+stderr, -1)), lower(got), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("problems differ (-terraform +towline):\n%s", diff)
			}
		})
	}
}

func lower(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = strings.ToLower(text)
	}
	slices.Sort(out)
	return out
}
