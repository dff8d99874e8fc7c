package engine_test

import (
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// TestValidationsUseOtherObjects compares variables with what else there is in their module.
func TestValidationsUseOtherObjects(t *testing.T) {
	t.Parallel()
	const rule = "variable \"a\" {\n  default = 2\n  validation {\n    condition     = COND\n    error_message = \"a is ${var.a}, b is ${var.b}\"\n  }\n}\nvariable \"b\" {\n  default = 1\n}\n"
	tests := map[string]struct {
		condition, more string
		summary, detail string
		actions         []string
	}{
		"holds":           {condition: "var.a > var.b", more: "resource \"terraform_data\" \"x\" { input = var.a }", actions: []string{"create terraform_data.x"}},
		"fails":           {condition: "var.a < var.b", more: "resource \"terraform_data\" \"x\" { input = var.a }\nresource \"terraform_data\" \"y\" {}", summary: "Invalid value for variable", detail: "a is 2, b is 1", actions: []string{"create terraform_data.y"}},
		"circle":          {condition: "terraform_data.x.id != var.a", more: "resource \"terraform_data\" \"x\" { input = var.a }", summary: "Cycle: terraform_data.x, var.a"},
		"unknown by then": {condition: "terraform_data.y.id != var.a", more: "resource \"terraform_data\" \"y\" {}\nresource \"terraform_data\" \"x\" { input = var.a }", actions: []string{"create terraform_data.x", "create terraform_data.y"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.write(map[string]string{"main.tf": strings.ReplaceAll(rule, "COND", test.condition) + test.more})
			plan, diags := b.plan(engine.PlanOptions{})
			b.wantActions(plan, test.actions...)
			var errs tfdiags.Diagnostics
			for _, d := range diags {
				if d.Severity == tfdiags.Error {
					errs = append(errs, d)
				}
			}
			if test.summary == "" && len(errs) == 0 {
				return
			}
			if len(errs) != 1 || errs[0].Summary != test.summary || !strings.Contains(errs[0].Detail, test.detail) {
				t.Errorf("got %v, want %s", errs, test.summary)
			}
		})
	}
}
