package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// TestCheckBlocksWarnAndHoldNothingUp applies although an assertion fails, and
// records what it said once its values are known.
func TestCheckBlocksWarnAndHoldNothingUp(t *testing.T) {
	t.Parallel()
	b, _ := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "a" { name = "a" }
check "c" {
  assert {
    condition     = fake_thing.a.id == "nobody"
    error_message = "it is not nobody"
  }
}
`})
	warnings := func(diags tfdiags.Diagnostics) string {
		var out []string
		for _, d := range diags {
			out = append(out, d.Severity.String()+" "+d.Summary)
		}
		return strings.ToLower(strings.Join(out, ", "))
	}
	_, diags := b.plan(engine.PlanOptions{})
	if got := warnings(diags); got != "warning check block assertion known after apply" {
		t.Errorf("the plan says %s", got)
	}
	if got := warnings(b.apply(engine.PlanOptions{})); got != "warning check block assertion failed" {
		t.Errorf("the apply says %s", got)
	}
	if !bytes.Contains(b.state.CheckResults, []byte("it is not nobody")) || b.state.Count() != 1 {
		t.Errorf("recorded are %d objects and %s", b.state.Count(), b.state.CheckResults)
	}
	if diags := b.engine.Validate(t.Context(), b.load()); len(diags) > 0 {
		t.Errorf("validation says %v", diags)
	}
}
